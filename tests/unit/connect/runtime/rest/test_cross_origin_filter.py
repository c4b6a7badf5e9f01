from kafka_lite.connect.runtime.rest.cross_origin_filter import CrossOriginFilter

ORIGIN = {"origin": "http://a.example"}
PREFLIGHT = ORIGIN | {"access-control-request-method": "PUT"}


def test_nothing_is_allowed_by_default() -> None:
    assert CrossOriginFilter("", "").headers("GET", ORIGIN) == {}


def test_an_allowed_origin_may_read_the_answer() -> None:
    allowing = CrossOriginFilter("http://b.example, http://a.example", "")
    assert allowing.headers("GET", ORIGIN)["Access-Control-Allow-Origin"] == "http://a.example"
    assert allowing.headers("GET", {"origin": "http://c.example"}) == {}
    assert allowing.headers("GET", {}) == {}


def test_a_preflight_is_told_which_methods_are_allowed() -> None:
    assert "Access-Control-Allow-Methods" not in CrossOriginFilter("*", "").headers("OPTIONS", PREFLIGHT)
    headers = CrossOriginFilter("*", "GET,PUT").headers("OPTIONS", PREFLIGHT)
    assert headers["Access-Control-Allow-Methods"] == "GET,PUT"
    assert "Access-Control-Allow-Methods" not in CrossOriginFilter("*", "GET,PUT").headers("GET", PREFLIGHT)
