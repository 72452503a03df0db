&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-BaikWZkq.js", include_bytes!("explorer/decode-BaikWZkq.js")),
    ("index-Cojv-jGc.js", include_bytes!("explorer/index-Cojv-jGc.js")),
    ("index-CwcHsEk5.css", include_bytes!("explorer/index-CwcHsEk5.css")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-Bl1qDe6l.js", include_bytes!("explorer/words-Bl1qDe6l.js")),
    ("worker-BG3jPEcV.js", include_bytes!("explorer/worker-BG3jPEcV.js")),
]
