"""Deliveries of alerts, verified as a receiver does."""

import datetime
import hashlib
import http.server
import json
import queue
import threading
import urllib.request

import pytest
from child import PATIENCE_S, serving
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

KEY = "mesonet_push_of_a_test"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

ALERT = """<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><identifier>urn:oid:1</identifier>
<sender>cap-pac@canada.ca</sender><sent>{sent}</sent><status>Actual</status><msgType>Alert</msgType>
<scope>Public</scope><info><language>en-CA</language><event>tornado</event><urgency>Immediate</urgency>
<severity>Severe</severity><certainty>Likely</certainty><expires>{expires}</expires>
<headline>Une tornade à Sarnia — “now”</headline><area><areaDesc>Sarnia</areaDesc>
<polygon>42,-83 42,-82 43,-82 43,-83 42,-83</polygon></area></info></alert>"""


@pytest.fixture
def received():
    """The address of a receiver, and what comes to it."""
    deliveries = queue.Queue()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            deliveries.put((body, dict(self.headers)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/alerts", deliveries
    server.shutdown()
    server.server_close()


def test_the_library_of_standard_webhooks_verifies_an_alert(binary, tmp_path, received):
    url, deliveries = received
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    config = tmp_path / "mesonet.toml"
    config.write_text(
        f'[[webhooks]]\nname = "here"\nurl = "{url}"\nsecret_file = "{secret}"\n'
        "place = [-82.5, 42.5]\nallow_http = true\nallow_private = true\n"
    )
    command = [binary, "--listen", "127.0.0.1:0", "--data", tmp_path / "record", "--now", "live"]
    command += ["--config", config, "--ingest-key-hashes", hashlib.sha256(KEY.encode()).hexdigest()]
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    alert = ALERT.format(
        sent=now.isoformat(), expires=(now + datetime.timedelta(hours=1)).isoformat()
    )
    with serving(*command, log=tmp_path / "log") as origin:
        headers = {"Authorization": f"Bearer {KEY}"}
        address = f"{origin}/api/v1/ingest?name=alert.cap"
        request = urllib.request.Request(address, alert.encode(), headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            assert answer.status == 200
        body, headers = deliveries.get(timeout=PATIENCE_S)
    verified = Webhook(SECRET).verify(body, headers)
    assert (verified["type"], verified["data"]["properties"]["status"]) == ("alert", "Active")
    assert verified["data"]["properties"]["alertHeadline"] == "Une tornade à Sarnia — “now”"
    assert json.loads(body) == verified
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(body.replace(b"Active", b"Ended!"), headers)
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + "A" * 32).verify(body, headers)
