&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-Dr7ASxWk.js", include_bytes!("explorer/decode-Dr7ASxWk.js")),
    ("index-B1cSefrf.css", include_bytes!("explorer/index-B1cSefrf.css")),
    ("index-BgJYLYfl.js", include_bytes!("explorer/index-BgJYLYfl.js")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("names-CXwwr-xf.bin", include_bytes!("explorer/names-CXwwr-xf.bin")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-ChBFTISS.js", include_bytes!("explorer/words-ChBFTISS.js")),
    ("worker-LmVcKmS8.js", include_bytes!("explorer/worker-LmVcKmS8.js")),
]
