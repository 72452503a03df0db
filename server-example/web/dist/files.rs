&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Bj68KFEG.bin", include_bytes!("explorer/basemap-Bj68KFEG.bin")),
    ("index-CjhBLj3N.js", include_bytes!("explorer/index-CjhBLj3N.js")),
    ("index-DMDf-3i1.css", include_bytes!("explorer/index-DMDf-3i1.css")),
    ("layers-2x-Bpkbi35X.png", include_bytes!("explorer/layers-2x-Bpkbi35X.png")),
    ("layers-BWBAp2CZ.png", include_bytes!("explorer/layers-BWBAp2CZ.png")),
    ("marker-icon-hN30_KVU.png", include_bytes!("explorer/marker-icon-hN30_KVU.png")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("worker-C_zVcg9l.js", include_bytes!("explorer/worker-C_zVcg9l.js")),
]
