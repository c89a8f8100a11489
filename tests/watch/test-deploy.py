#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""deploy/kubernetes.yaml: against Kubernetes' schemas, and against ccl-watch; the systemd unit. Prints TAP."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import tap  # noqa: E402

try:
    import yaml
except ImportError:
    print("1..0 # SKIP python3-yaml is not installed")
    sys.exit()

resources = {resource["kind"]: resource for resource in
             yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text())}
pod = resources["Deployment"]["spec"]["template"]["spec"]
container, = pod["containers"]


def schemas():
    """every resource is valid, in an old and in a new version of Kubernetes"""
    try:
        import kubernetes_validate
    except ImportError:
        raise tap.Skip("kubernetes-validate is not installed (pip)") from None
    tap.equal(sorted(resources), ["ConfigMap", "Deployment", "Namespace", "NetworkPolicy",
                                  "PersistentVolumeClaim", "Secret", "Service"])
    for version in "1.28", kubernetes_validate.latest_version():
        for resource in resources.values():
            kubernetes_validate.validate(resource, version, strict=True)
    broken = {**resources["Service"], "spec": {"ports": [{"port": "http"}]}}
    try:
        kubernetes_validate.validate(broken, "1.28", strict=True)
    except kubernetes_validate.ValidationError:
        return
    raise AssertionError("the validator accepts a port that is no number")


def references():
    """every name that a resource refers to exists in another one"""
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    for one in pod["initContainers"] + pod["containers"]:
        for mount in one["volumeMounts"]:
            assert mount["name"] in volumes, mount
    for kind, name in (("ConfigMap", volumes["config"]["configMap"]["name"]),
                       ("Secret", volumes["secret"]["secret"]["secretName"]),
                       ("PersistentVolumeClaim",
                        volumes["media"]["persistentVolumeClaim"]["claimName"])):
        tap.equal(resources[kind]["metadata"]["name"], name)
    tap.equal(resources["Service"]["spec"]["selector"],
              resources["Deployment"]["spec"]["template"]["metadata"]["labels"])
    ports = {port["name"] for port in container["ports"]}
    for probe in "livenessProbe", "readinessProbe":
        tap.equal(container[probe]["httpGet"]["path"], "/healthz")
        assert container[probe]["httpGet"]["port"] in ports
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 1


def configuration():
    """ccl-watch accepts the configuration that the pod makes, with the pod's own command"""
    init, = pod["initContainers"]
    mode, = [volume["secret"]["defaultMode"] for volume in pod["volumes"] if "secret" in volume]
    with tempfile.TemporaryDirectory(prefix="deploy test ") as name:
        folder = pathlib.Path(name)
        parts = {"/config": resources["ConfigMap"]["data"],
                 "/secret": resources["Secret"]["stringData"], "/etc/ccl-watch": {}}
        command = init["args"][0]
        arguments = container["args"]
        for path, files in parts.items():
            (folder / path[1:]).mkdir(parents=True)
            for file, text in files.items():
                (folder / path[1:] / file).write_text(text)
                (folder / path[1:] / file).chmod(mode if path == "/secret" else 0o644)
            command = command.replace(path + "/", f"'{folder}{path}'/")
            arguments = [argument.replace(path + "/", f"{folder}{path}/") for argument in arguments]
        subprocess.run(["sh", "-c", command], check=True)
        result = subprocess.run([os.environ["CCL_WATCH"], "--check", *arguments],
                                capture_output=True, text=True, timeout=20)
        tap.equal((result.returncode, result.stderr), (0, ""))


def systemd_unit():
    """systemd understands the unit, an exposure of 1.7 or less remains, and memory is bounded (10 without any restriction)"""
    if not shutil.which("systemd-analyze"):
        raise tap.Skip("systemd is not installed")
    with tempfile.TemporaryDirectory() as name:
        unit = pathlib.Path(name, "ccl-watch.service")
        text = (ROOT / "watch/ccl-watch.service.in").read_text()
        unit.write_text(re.sub(r"@bindir@/\S+", shutil.which("true"), text))
        # It only warns of keys that it does not know, and is silent otherwise.
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60)
        assert "\nMemoryMax=" in text
        own = [line for line in done.stdout.splitlines() if unit.name in line]
        tap.equal((done.returncode, own), (0, []), done.stdout)
        subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=17", "--no-pager", unit],
                       stdout=subprocess.DEVNULL, check=True, timeout=60)


def protection():
    """the namespace enforces restricted pods, a policy bounds the network, nothing is scraped without the token, and base
    images are pinned"""
    tap.equal(resources["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted")
    policy = resources["NetworkPolicy"]["spec"]
    tap.equal(policy["podSelector"]["matchLabels"], resources["Deployment"]["spec"]["template"]["metadata"]["labels"])
    assert all(rule["from"] for rule in policy["ingress"]) and all(rule["to"] for rule in policy["egress"])
    annotations = resources["Deployment"]["spec"]["template"]["metadata"].get("annotations", {})
    assert "prometheus.io/scrape" not in annotations, "it would get 401"
    for one in pod["initContainers"] + pod["containers"]:
        context = {**pod["securityContext"], **one["securityContext"]}
        assert context["runAsNonRoot"] and not context["allowPrivilegeEscalation"], context
        tap.equal((context["capabilities"], context["seccompProfile"]), ({"drop": ["ALL"]}, {"type": "RuntimeDefault"}))
    text = (ROOT / "deploy/Containerfile").read_text()
    images = re.findall(r"^ARG \w+_IMAGE=\S+?[:@](\S+)", text, re.M)
    assert len(images) == 2 and all(re.fullmatch(r"\d+\.\d+|sha256:\w+", image) for image in images), images
    assert "\nHEALTHCHECK " in text


def health_check():
    """the container's HEALTHCHECK: 0 where the page answers 200 or there is none, otherwise another status"""
    text = (ROOT / "deploy/Containerfile").read_text()
    command = json.loads(re.search(r"HEALTHCHECK.*?CMD (\[.*?\])\n", text, re.S)[1])
    for answer, status in ((b"HTTP/1.1 200 OK\r\n\r\n", 0), (b"HTTP/1.1 503 Wrong\r\n\r\n", 1), (None, 0)):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            if not answer:
                server.close()
            else:
                threading.Thread(target=lambda: serve_once(server, answer), daemon=True).start()
            done = subprocess.run([*command[:-1], command[-1].replace("8080", str(port))], capture_output=True,
                                  timeout=20)
            tap.equal(done.returncode, status, answer)


def serve_once(server, answer):
    with server.accept()[0] as client:
        with client.makefile("rb") as file:
            tap.equal(file.readline(), b"GET /healthz HTTP/1.0\r\n")
            while file.readline().strip():
                pass
        client.sendall(answer)


sys.exit(tap.run(protection, health_check, systemd_unit, schemas, references, configuration))
