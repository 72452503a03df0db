&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Bj68KFEG.bin", include_bytes!("explorer/basemap-Bj68KFEG.bin")),
    ("index-Dxmm8JzF.js", include_bytes!("explorer/index-Dxmm8JzF.js")),
    ("index-srQI7lEg.css", include_bytes!("explorer/index-srQI7lEg.css")),
    ("layers-2x-Bpkbi35X.png", include_bytes!("explorer/layers-2x-Bpkbi35X.png")),
    ("layers-BWBAp2CZ.png", include_bytes!("explorer/layers-BWBAp2CZ.png")),
    ("marker-icon-hN30_KVU.png", include_bytes!("explorer/marker-icon-hN30_KVU.png")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("worker-BQ2Q61WL.js", include_bytes!("explorer/worker-BQ2Q61WL.js")),
]
