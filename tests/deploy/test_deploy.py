"""The files of deploy/ parse, and name only metrics, commands and options that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from tests.cli.hostile_usage import commands as all_commands
from tests.client.running import serving

from neardup.service.app import ROUTES, STATUSES
from neardup.service.limits import Limits
from neardup.service.metrics import PREFIX, Counters

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs" / "guides" / "running-a-service.md"
_NAME = re.compile(rf"\b{PREFIX}_[a-z_]+\b")
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real answer of /metrics, after a document was checked."""
    with serving(tmp_path_factory.mktemp("deploy") / "data", "--workers", "1") as running:
        request = Request(
            f"{running.url}/v1/indexes/pages/check?create=true",
            b'{"id": 1, "text": "one two three four"}',
            {"Content-Type": "application/json"},
        )
        with urlopen(request) as answer:
            assert answer.status == 200
        with urlopen(f"{running.url}/v1/indexes/pages/documents/1") as answer:
            assert answer.status == 200
        with urlopen(f"{running.url}/metrics") as answer:
            return str(answer.read().decode())


@pytest.fixture(scope="module")
def names(exposed: str) -> set[str]:
    """The names of all time series."""
    return set(re.findall(r"^(\w+)", exposed, re.M)) - {""}


def expressions() -> Iterator[tuple[str, str]]:
    """Every query of the dashboard and of the alerts, and where it is."""
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield f"panel {panel['title']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable {variable['name']}", variable["query"]["query"]
    for rule in rules():
        yield f"alert {rule['alert']}", rule["expr"]


def rules() -> list[dict[str, Any]]:
    (group,) = read_yaml("alerts.yml")["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def read_yaml(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def metrics() -> set[str]:
    """The names of all families, as src/neardup/service/metrics.py and the endpoint have them."""
    text = Counters(1, ROUTES, STATUSES).text({})
    return set(re.findall(r"^# TYPE (\w+)", text, re.M)) | {
        f"{PREFIX}_index_documents",
        f"{PREFIX}_index_bytes",
    }


@pytest.mark.parametrize(("where", "expression"), list(expressions()))
def test_every_metric_of_a_query_is_exposed(where, expression, names):
    used = set(_NAME.findall(expression))
    assert used or "up{" in expression, where
    assert used <= names, where


def test_every_metric_is_on_the_dashboard():
    shown = {name for _, expression in expressions() for name in _NAME.findall(expression)}
    base = {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown}
    assert metrics() <= base


def test_the_routes_of_the_alerts_exist():
    named = {
        route
        for _, expression in expressions()
        for route in re.findall(r'route="([^"]+)"', expression)
    }
    assert named
    assert named <= set(ROUTES)


def test_the_panels_do_not_overlap():
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)


def test_prometheus_loads_the_alerts():
    settings = read_yaml("prometheus.yml")
    assert settings["rule_files"] == ["alerts.yml"]
    (scraped,) = settings["scrape_configs"]
    assert {f'up{{job="{scraped["job_name"]}"}} == 0'} <= {rule["expr"] for rule in rules()}
    for rule in rules():
        assert rule["annotations"]["summary"]
        assert rule["annotations"]["description"]


def test_compose_mounts_what_there_is():
    compose = read_yaml("compose.yaml")
    service = compose["services"]["neardup"]
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert int(service["stop_grace_period"].rstrip("s")) > Limits().drain_seconds
    for mount in compose["services"]["prometheus"]["volumes"]:
        name = mount.partition(":")[0]
        exists = name in compose["volumes"] or (DEPLOY / name).is_file()
        assert exists or name == "./neardup-key"  # made by the operator, as the file says


def test_the_unit_passes_verification(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    text = (DEPLOY / "neardup.service").read_text(encoding="utf-8")
    unit = tmp_path / "neardup.service"
    unit.write_text(
        text.replace("/opt/neardup/bin/neardup serve", f"{sys.executable} -m neardup serve")
    )
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], check=False, capture_output=True, text=True
    )
    if "Failed to" in done.stderr and "manager" in done.stderr:
        pytest.skip(f"systemd-analyze cannot run here: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_waits_for_the_requests_and_jobs():
    text = (DEPLOY / "neardup.service").read_text(encoding="utf-8")
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", text, re.M)
    assert int(seconds) > Limits().drain_seconds + 10
    assert "KillMode=mixed" in text
    assert "Restart=on-failure" in text


def commands() -> Iterator[tuple[str, list[str]]]:
    """The commands of neardup in the files: where, and the words after `neardup`."""
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    (words,) = re.findall(r"^CMD (\[.*\])$", dockerfile, re.M)
    yield "Dockerfile", json.loads(words)
    for name in ("Dockerfile", "neardup.service", "compose.yaml", "prometheus.yml"):
        text = (DEPLOY / name).read_text(encoding="utf-8")
        for found in re.findall(r"\bneardup ((?:serve|keys) [^>\n]+)", text):
            if "--" in found:
                yield name, found.split()
    for found in re.findall(r"^    neardup ([^#\n]+)", GUIDE.read_text(encoding="utf-8"), re.M):
        yield "the guide", found.split()


@pytest.mark.parametrize(("where", "words"), list(commands()))
def test_every_command_and_option_exists(where, words):
    known_commands = all_commands()
    name = next(name for name in (words[0], " ".join(words[:2])) if name in known_commands)
    command = known_commands[name]
    known = {name for parameter in command.params for name in parameter.opts}
    given = [word for word in words if word.startswith("--")]
    assert set(given) <= known, where


def test_the_image_is_built_from_files_that_exist():
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.M)
        for name in line.split()[:-1]
    ]
    assert {"pyproject.toml", "src", "native"} <= set(copied)
    for name in copied:
        assert (ROOT / name).exists(), name
        assert name not in ignored


def test_the_health_check_is_python():
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    (words,) = re.findall(r"^HEALTHCHECK [^\n]*\n  CMD (\[.*\])$", dockerfile, re.M)
    python, option, code = json.loads(words)
    assert (python, option) == ("python", "-c")
    compile(code, "HEALTHCHECK", "exec")
    assert "/readyz" in code


def test_the_guide_explains_every_metric():
    told = GUIDE.read_text(encoding="utf-8")
    assert set(re.findall(rf"^\| `({PREFIX}_\w+)` \| ", told, re.M)) == metrics()


def test_the_metrics_of_the_guide_have_their_types(exposed):
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", exposed, re.M))
    rows = dict(
        re.findall(rf"^\| `({PREFIX}_\w+)` \| (\w+) \|", GUIDE.read_text(encoding="utf-8"), re.M)
    )
    assert rows == types


def test_the_guide_explains_every_alert():
    told = GUIDE.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(Neardup\w+)` \|", told, re.M)) == {
        one["alert"] for one in rules()
    }


def test_the_pod_of_the_guide_is_yaml():
    (pod,) = re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    found = yaml.safe_load(pod)
    assert found["terminationGracePeriodSeconds"] > Limits().drain_seconds + 10
    (container,) = found["containers"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"


def test_nginx_accepts_the_settings_of_the_guide(tmp_path):
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        pytest.skip("there is no nginx, or no openssl to make a certificate")
    (server,) = re.findall(r"^```nginx\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-subj", "/CN=localhost", "-keyout", "neardup.key", "-out", "neardup.pem"),
        ],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    server = server.replace("/etc/ssl", str(tmp_path)).replace("listen 443", "listen 7743")
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid;\nerror_log {tmp_path}/errors;\nevents {{}}\nhttp {{\n"
        f"access_log off;\nclient_body_temp_path {tmp_path}/b;\nproxy_temp_path {tmp_path}/p;\n"
        f"{server}}}\n"
    )
    done = subprocess.run(
        ["nginx", "-t", "-c", str(tmp_path / "nginx.conf")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_guide_explains_every_event_of_the_log():
    table = GUIDE.read_text(encoding="utf-8").partition("| other event |")[2].partition("\n\n")[0]
    told = set(re.findall(r"^\| `(\w+)` \|", table, re.M))
    sources = (ROOT / "src" / "neardup" / "service").rglob("*.py")
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    assert told == set(re.findall(r'\.event\(\s*"(\w+)"', text))
