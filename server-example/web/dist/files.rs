&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-C9BdEUaZ.bin", include_bytes!("explorer/basemap-C9BdEUaZ.bin")),
    ("index-BDcp43Pi.css", include_bytes!("explorer/index-BDcp43Pi.css")),
    ("index-Bl4o2TQy.js", include_bytes!("explorer/index-Bl4o2TQy.js")),
    ("layers-2x-Bpkbi35X.png", include_bytes!("explorer/layers-2x-Bpkbi35X.png")),
    ("layers-BWBAp2CZ.png", include_bytes!("explorer/layers-BWBAp2CZ.png")),
    ("marker-icon-hN30_KVU.png", include_bytes!("explorer/marker-icon-hN30_KVU.png")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("worker-BVr8WQUz.js", include_bytes!("explorer/worker-BVr8WQUz.js")),
]
