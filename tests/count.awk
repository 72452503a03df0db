# Sums up the test runners in a log: a line "passed failed skipped", then a line for each skipped
# test with the reason. Reads cargo test, pytest -rfEsx, node's TAP, the campaign of faults, and
# stages that skip a part.

/^test .* \.\.\. ignored/ {
    reason = $0
    if (!sub(/^.* \.\.\. ignored, /, "", reason)) reason = ""
    sub(/^test /, "")
    sub(/ \.\.\. ignored.*$/, "")
    note($0, reason)
}
/^test result: / { passed += $4; failed += $6; skipped += $8 }

/^(SKIPPED|XFAIL) / { note($0, "") }
/^=* ?([0-9]+ [a-z]+, )*[0-9]+ [a-z]+ in [0-9.]+s/ {
    for (i = 2; i <= NF; i++) {
        if ($i ~ /^passed/) passed += $(i - 1)
        if ($i ~ /^(failed|error)/) failed += $(i - 1)
        if ($i ~ /^(skipped|xfailed)/) skipped += $(i - 1)
    }
}

/^ *(not )?ok [0-9]+ .* # (SKIP|TODO)/ {
    sub(/^ *(not )?ok [0-9]+ (- )?/, "")
    note($0, "")
}
/^# pass [0-9]+$/ { passed += $3 }
/^# (fail|cancelled) [0-9]+$/ { failed += $3 }
/^# (skipped|todo) [0-9]+$/ { skipped += $3 }

/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { passed += $1; failed += $3; skipped += $5 }
/^skipped: / {
    sub(/^skipped: /, "")
    note($0, "")
}

/^=== skipped: / {
    sub(/^=== skipped: /, "")
    skipped++
    note($0, "")
}

function note(name, reason) {
    names = names name (reason == "" ? "" : ": " reason) "\n"
}

END { printf "%d %d %d\n%s", passed, failed, skipped, names }
