&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-BU5qp5Jh.js", include_bytes!("explorer/decode-BU5qp5Jh.js")),
    ("index-DVtN_f3W.css", include_bytes!("explorer/index-DVtN_f3W.css")),
    ("index-vBeYC709.js", include_bytes!("explorer/index-vBeYC709.js")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-D5OZTk8e.js", include_bytes!("explorer/words-D5OZTk8e.js")),
    ("worker-BG3jPEcV.js", include_bytes!("explorer/worker-BG3jPEcV.js")),
]
