&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-oLV0aLKi.js", include_bytes!("explorer/decode-oLV0aLKi.js")),
    ("index-Cp-1Ea9h.css", include_bytes!("explorer/index-Cp-1Ea9h.css")),
    ("index-Dmb3Klnk.js", include_bytes!("explorer/index-Dmb3Klnk.js")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("names-CXwwr-xf.bin", include_bytes!("explorer/names-CXwwr-xf.bin")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-B_oNc_qG.js", include_bytes!("explorer/words-B_oNc_qG.js")),
    ("worker-LmVcKmS8.js", include_bytes!("explorer/worker-LmVcKmS8.js")),
]
