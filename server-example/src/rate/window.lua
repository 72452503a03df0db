-- Counts a request of one caller by the rule of window.rs. Times are microseconds; the line before this
-- file sets `now`.
--
-- KEYS[1]  the caller: a list of the times of its last requests, oldest first; those of requests that
--          wait are in the future
-- ARGV     most requests in any span, the span, most requests that wait, longest wait
-- Returns  how long the request waits; -1 if it is refused, and then nothing is written
local key = KEYS[1]
local requests, span = tonumber(ARGV[1]), tonumber(ARGV[2])
local waiting, longest_wait = tonumber(ARGV[3]), tonumber(ARGV[4])

-- The longest wait that settings allow, and a second more.
local FURTHEST = 61000000

local function time_at(index)
    return tonumber(redis.call('LINDEX', key, index))
end

local last = time_at(-1)
if last and last > now + FURTHEST then
    -- No turn is so far ahead: the clock was set back, and nobody is to wait until it is there again.
    redis.call('DEL', key)
    last = nil
end

local turn = now
-- The turn comes when the request that many before it leaves the span.
local before = time_at(-requests)
if before and before + span > now then
    turn = before + span
    if waiting == 0 or (time_at(-waiting) or now) > now or turn - now > longest_wait then
        return -1
    end
end

if not last or last <= turn then
    redis.call('RPUSH', key, string.format('%.0f', turn))
    last = turn
else
    -- A server with another allowance has given turns that come later.
    local low, high = 0, redis.call('LLEN', key)
    while low < high do
        local middle = math.floor((low + high) / 2)
        if time_at(middle) > turn then high = middle else low = middle + 1 end
    end
    redis.call('LINSERT', key, 'BEFORE', redis.call('LINDEX', key, low), string.format('%.0f', turn))
end
-- One has come in, so two that may go keep the list short, and none is so long that others wait for it.
for _ = 1, 2 do
    if time_at(0) + span > now then break end
    redis.call('LPOP', key)
end
redis.call('PEXPIRE', key, math.ceil((last + span - now) / 1000))
return turn - now
