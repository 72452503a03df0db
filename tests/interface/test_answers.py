"""Answers of a running server have the forms that its description gives them.

An object may have no member that is not described: what is not in the description would be unknown to
the clients that are made from it.
"""

import copy
import json
import os
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import jsonschema_rs
import pytest
from openapi_spec_validator import validate

# Further requests, besides the examples in the description, whose answers have other members.
OTHERS = {
    "getReadings": [
        {"start": "2024-08-03T12:00:00Z", "end": "2024-08-03T21:00:00Z"},
        # Coarsened.
        {"start": "2024-08-02T21:00:00Z", "end": "2024-08-03T21:00:00Z", "step": 1},
        {"units": "us", "unit.windSpeed10m": "kt", "tz": "local"},
    ],
    "getStation": [{"units": "us", "tz": "local"}],
    "getStationDetails": [{}, {"units": "us", "tz": "local", "network": "METAR"}],
    "getStationSummary": [{"to": "2024-08-03", "units": "us"}],
    "getAlerts": [{}, {"lang": "fr"}],
    "getModelPoint": [
        {"run": "latest", "hour": 0, "row": 1, "col": 2, "level": 1, "winds": "earth",
         "fields": "u_wind,v_wind,precipitation,lifted_index"},
    ],
    "getModelSeries": [
        {"run": "latest", "row": 1, "col": 2, "fields": "temperature,precipitation"},
    ],
    "getZones": [{"codes": "OKZ001,OKC001", "kind": "fire"}],
}  # fmt: skip


# What the description shows as the answers to its examples.
EXAMPLES = Path(__file__).parents[2] / "server-example/src/openapi/examples.json"

# Requests for these, where the example of the request shows every filter at once.
SHOWN = {"getAlerts": {}}

# A webhook with deliveries, as one that sends alerts.
WEBHOOK = {
    "name": "river-desk",
    "origin": "https://example.org",
    "delivered": 12,
    "deliveredAt": "2026-05-14T16:40:02Z",
    "lastAttempt": {"at": "2026-05-14T16:40:02Z", "tookMs": 84, "isDelivered": True, "status": 200},
    "failures": 0,
    "isGone": False,
    "leftOut": [],
}

# A broker with messages, as one of a server with the feature `mqtt`.
BROKER = {
    "name": "partners",
    "address": "mqtts://broker.example.org:8883",
    "clientId": "mesonet-partners",
    "isConnected": True,
    "published": 48210,
    "publishedAt": "2026-05-14T16:40:02Z",
    "failures": 0,
    "leftOut": 0,
    "lastLeftOut": [],
}

# Members that differ from answer to answer, or are secret, with the values of the example.
STATED = {
    "issueKey": {"id": "3f0c9a8b1d2e", "key": "mesonet_key_" + "0" * 72},
    "revokeKey": {"id": "3f0c9a8b1d2e"},
    "listMqttBrokers": {"brokers": [BROKER]},
    "listWebhooks": {"webhooks": [WEBHOOK]},
    "testWebhook": WEBHOOK["lastAttempt"],
}


class Server:
    def __init__(self, service):
        self.address = urlsplit(service.origin).netloc
        self.service = service
        self.tokens = {
            "staff": service.token("--plan", "commercial", "--staff"),
            "push": service.push_key,
        }

    def ask(self, method, address, *, body=None, headers=()):
        connection = HTTPConnection(self.address, timeout=120)
        connection.request(method, address, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


@pytest.fixture(scope="module")
def server(service):
    return Server(service)


def strict(description):
    """The same with no further members in the objects that list theirs."""
    description = copy.deepcopy(description)
    schemas = description["components"]["schemas"]
    # A part of another type has the members of the whole.
    parts = {part["$ref"] for schema in schemas.values() for part in schema.get("allOf", [])
             if "$ref" in part}  # fmt: skip

    def close(schema):
        if isinstance(schema, dict):
            if "allOf" in schema:
                schema["unevaluatedProperties"] = False
                return
            if schema.get("type") == "object" and "properties" in schema:
                schema.setdefault("additionalProperties", False)
            for value in schema.values():
                close(value)
        elif isinstance(schema, list):
            for value in schema:
                close(value)

    for name, schema in schemas.items():
        if f"#/components/schemas/{name}" not in parts:
            close(schema)
    return description


@pytest.fixture(scope="module")
def check(description):
    """Checks an answer against the description of its operation."""
    components = strict(description)["components"]
    validators = {}

    def check(operation, status, headers, body):
        responses = operation["responses"]
        assert str(status) in responses, (operation["operationId"], status, body[:500])
        response = responses[str(status)]
        if "$ref" in response:
            response = components["responses"][response["$ref"].rsplit("/", 1)[1]]
        content = response.get("content")
        if content is None:
            # A 401 has a reason or no body.
            assert not body or status == 401, (operation["operationId"], status, body[:500])
            return None
        media_type = headers["content-type"].split(";")[0]
        assert media_type in content, (operation["operationId"], media_type)
        if not media_type.endswith("json"):
            return None
        schema = {"components": components, **content[media_type]["schema"]}
        key = json.dumps(content[media_type]["schema"])
        if key not in validators:
            validators[key] = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        value = json.loads(body)
        errors = [f"{list(e.instance_path)}: {e.message[:300]}"
                  for e, _ in zip(validators[key].iter_errors(value), range(5))]  # fmt: skip
        assert not errors, (operation["operationId"], errors)
        return value

    return check


def operations(description):
    for path, item in description["paths"].items():
        for method, operation in item.items():
            yield path, method.upper(), operation


def credential(server, operation):
    for requirement in operation["security"]:
        if "pushKey" in requirement:
            return {"authorization": f"Bearer {server.tokens['push']}"}
    if {} in operation["security"] or not operation["security"]:
        return {}
    return {"authorization": f"Bearer {server.tokens['staff']}"}


def request(path, operation, query=None):
    """The address and the body of the example of an operation."""
    given = dict(query or {})
    for parameter in operation.get("parameters", []):
        example = parameter.get("example")
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(str(example), safe=""))
        elif parameter["in"] == "query" and query is None and example is not None:
            given[parameter["name"]] = ",".join(example) if isinstance(example, list) else example
    address = path + ("?" + urlencode(given) if given else "")
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return address, content and json.dumps(content["example"])


def test_the_description_is_an_openapi_document(description):
    validate(description)


def shortened(value):
    """The same with the first members of lists and of maps only. A ring stays closed."""
    if isinstance(value, list):
        kept = value[:2]
        if len(value) > 3 and isinstance(value[0], (list, dict)) and value[0] == value[-1]:
            kept = [*value[:3], value[-1]]
        return [shortened(item) for item in kept]
    if isinstance(value, dict):
        names = list(value)
        is_map = len(names) > 30 or "-" in names[0] if names else False
        return {name: shortened(value[name]) for name in (names[:2] if is_map else names)}
    return value


def test_the_example_of_every_operation_has_the_answer_that_is_described(
    server, description, check
):
    key, examples = None, {}
    server.ask("POST", "/api/v1/keys", body='{"label": "City of Ottawa"}', headers={
        "authorization": f"Bearer {server.tokens['staff']}", "content-type": "application/json",
    })  # fmt: skip
    for path, method, operation in operations(description):
        name = operation["operationId"]
        if name == "listen":
            # It has no end. tests/http/live.rs reads it.
            continue
        address, body = request(path, operation)
        headers = credential(server, operation)
        if body:
            headers["content-type"] = "application/json"
        if name == "pushFile":
            address, body = path + "?name=metars.csv", METARS
        if name == "revokeKey":
            address = path.replace("{id}", key)
        status, answered, answer = server.ask(method, address, body=body, headers=headers)
        assert status in (200, 201), (name, address, status, answer[:500])
        value = check(operation, status, answered, answer)
        if name == "issueKey":
            key = value["id"]
        if value is not None and name != "getDescription":
            if name in SHOWN:
                address, _ = request(path, operation, SHOWN[name])
                value = json.loads(server.ask("GET", address)[2])
            example = shortened(value)
            examples[name] = example | STATED.get(name, {}) if name in STATED else example
        described = operation["responses"][str(status)].get("headers", {})
        # The last is of an incomplete record or of incomplete alerts.
        conditional = {"x-next-cursor", "content-range", "x-mesonet-damaged"}
        lacking = {header.lower() for header in described} - {h.lower() for h in answered}
        assert lacking <= conditional, (name, lacking)
    if "MESONET_REFRESH" in os.environ:
        EXAMPLES.write_text(json.dumps(examples, ensure_ascii=False, indent=1) + "\n")
    # The examples in the description are of the same operations, and not of an earlier server.
    assert examples.keys() == json.loads(EXAMPLES.read_text()).keys()


def test_the_examples_of_answers_are_valid_and_short(description, check):
    shown = 0
    for _, _, operation in operations(description):
        for status in ("200", "201"):
            response = operation["responses"].get(status, {})
            content = response.get("content", {}).get("application/json", {})
            if "example" in content:
                text = json.dumps(content["example"])
                assert len(text) < 6_000, (operation["operationId"], len(text))
                check(operation, status, {"content-type": "application/json"}, text)
                shown += 1
    assert shown > 20


def test_other_answers_are_as_described_too(server, description, check):
    by_name = {op["operationId"]: (path, op) for path, _, op in operations(description)}
    for name, queries in OTHERS.items():
        path, operation = by_name[name]
        for query in queries:
            address, _ = request(path, operation, query)
            status, headers, body = server.ask("GET", address)
            assert status == 200, (address, status, body[:500])
            check(operation, status, headers, body)


def test_a_rejected_token_is_refused_by_every_operation_as_described(server, description, check):
    for path, method, operation in operations(description):
        if not operation["security"]:
            continue
        address, _ = request(path, operation)
        headers = {"authorization": "Bearer a.b.c"}
        status, answered, body = server.ask(method, address.replace("{id}", "x"), headers=headers)
        assert (status, json.loads(body)) == (401, {"reason": "malformed"}), operation["operationId"]
        check(operation, status, answered, body)


def test_a_caller_who_has_an_answer_gets_a_304(server, description):
    tagged = 0
    for path, method, operation in operations(description):
        if "304" not in operation["responses"]:
            continue
        address, _ = request(path, operation)
        _, headers, _ = server.ask(method, address)
        again = {"if-none-match": headers["etag"]}
        assert server.ask(method, address, headers=again)[0] == 304, address
        tagged += 1
    assert tagged > 10


METARS = (
    "raw_text,station_id,observation_time,latitude,longitude\n"
    "CYOW 031900Z 24012KT 15SM 29/17 A2991,CYOW,2024-08-03T19:00:00Z,45.32,-75.67\n"
)
