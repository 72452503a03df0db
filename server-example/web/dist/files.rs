&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-NDxW0Rnf.js", include_bytes!("explorer/decode-NDxW0Rnf.js")),
    ("index-DMiI4j5D.js", include_bytes!("explorer/index-DMiI4j5D.js")),
    ("index-DVtN_f3W.css", include_bytes!("explorer/index-DVtN_f3W.css")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-CIfr52TB.js", include_bytes!("explorer/words-CIfr52TB.js")),
    ("worker-BpEV_ztV.js", include_bytes!("explorer/worker-BpEV_ztV.js")),
]
