&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-C8FQ_SOn.js", include_bytes!("explorer/decode-C8FQ_SOn.js")),
    ("index-CHCK6fXV.js", include_bytes!("explorer/index-CHCK6fXV.js")),
    ("index-CwcHsEk5.css", include_bytes!("explorer/index-CwcHsEk5.css")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-L1Q-Wime.js", include_bytes!("explorer/words-L1Q-Wime.js")),
    ("worker-BG3jPEcV.js", include_bytes!("explorer/worker-BG3jPEcV.js")),
]
