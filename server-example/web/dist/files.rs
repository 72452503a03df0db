&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-BYtmrI4d.js", include_bytes!("explorer/decode-BYtmrI4d.js")),
    ("index-Cp-1Ea9h.css", include_bytes!("explorer/index-Cp-1Ea9h.css")),
    ("index-D4IUjWkH.js", include_bytes!("explorer/index-D4IUjWkH.js")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("names-CXwwr-xf.bin", include_bytes!("explorer/names-CXwwr-xf.bin")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-CCS_v49b.js", include_bytes!("explorer/words-CCS_v49b.js")),
    ("worker-LmVcKmS8.js", include_bytes!("explorer/worker-LmVcKmS8.js")),
]
