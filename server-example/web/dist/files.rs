&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-rQ16Ph_r.js", include_bytes!("explorer/decode-rQ16Ph_r.js")),
    ("index-Cb-neYz2.js", include_bytes!("explorer/index-Cb-neYz2.js")),
    ("index-DVtN_f3W.css", include_bytes!("explorer/index-DVtN_f3W.css")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-CxhPUNEt.js", include_bytes!("explorer/words-CxhPUNEt.js")),
    ("worker-BG3jPEcV.js", include_bytes!("explorer/worker-BG3jPEcV.js")),
]
