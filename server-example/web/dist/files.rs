&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Bj68KFEG.bin", include_bytes!("explorer/basemap-Bj68KFEG.bin")),
    ("index-BXzAMElR.css", include_bytes!("explorer/index-BXzAMElR.css")),
    ("index-DfXOvZ1Z.js", include_bytes!("explorer/index-DfXOvZ1Z.js")),
    ("layers-2x-Bpkbi35X.png", include_bytes!("explorer/layers-2x-Bpkbi35X.png")),
    ("layers-BWBAp2CZ.png", include_bytes!("explorer/layers-BWBAp2CZ.png")),
    ("marker-icon-hN30_KVU.png", include_bytes!("explorer/marker-icon-hN30_KVU.png")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-Ba3GxJF-.bin", include_bytes!("explorer/places-Ba3GxJF-.bin")),
    ("worker-BpEV_ztV.js", include_bytes!("explorer/worker-BpEV_ztV.js")),
]
