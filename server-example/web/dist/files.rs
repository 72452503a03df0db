&[
    ("index.html", include_bytes!("index.html")),
    ("basemap-Dqs2PD3o.bin", include_bytes!("explorer/basemap-Dqs2PD3o.bin")),
    ("decode-Y0_CDk5F.js", include_bytes!("explorer/decode-Y0_CDk5F.js")),
    ("index-BFDS4a_L.js", include_bytes!("explorer/index-BFDS4a_L.js")),
    ("index-DVtN_f3W.css", include_bytes!("explorer/index-DVtN_f3W.css")),
    ("mesonet.wasm", include_bytes!("explorer/mesonet.wasm")),
    ("places-BO2_Ju-5.bin", include_bytes!("explorer/places-BO2_Ju-5.bin")),
    ("report.wasm", include_bytes!("explorer/report.wasm")),
    ("words-C2a7Qd2A.js", include_bytes!("explorer/words-C2a7Qd2A.js")),
    ("worker-BpEV_ztV.js", include_bytes!("explorer/worker-BpEV_ztV.js")),
]
