&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-CqZgrDqG.js", include_bytes!("explorer/decode-CqZgrDqG.js")),
    ("index-DVtN_f3W.css", include_bytes!("explorer/index-DVtN_f3W.css")),
    ("index-NhjVFSiZ.js", include_bytes!("explorer/index-NhjVFSiZ.js")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-5HTUvdi_.js", include_bytes!("explorer/words-5HTUvdi_.js")),
    ("worker-BpEV_ztV.js", include_bytes!("explorer/worker-BpEV_ztV.js")),
]
