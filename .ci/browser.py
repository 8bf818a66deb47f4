"""Chromium with one page, spoken to by the DevTools protocol through a pipe. In Debian the package `chromium`."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
# In a container the folder of shared memory is too small for a browser.
WORDS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
         "--disable-dev-shm-usage", "--disable-background-networking", "--remote-debugging-pipe"]


class Browser:
    """Evaluates JavaScript in its page, and keeps what the page says and requests."""

    def __init__(self, helpers=""):
        if not PROGRAM:
            sys.exit("there is no chromium; in Debian: apt-get install chromium")
        self.folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        self.received, out = os.pipe()
        into, self.sending = os.pipe()
        # The browser reads from 3 and writes to 4, which a shell can give it.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{into} 4>&{out}', "sh", PROGRAM, *WORDS,
             f"--user-data-dir={self.folder.name}", "about:blank"],
            pass_fds=(into, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(out)
        os.close(into)
        self.number, self.buffer, self.session, self.said, self.requests = 0, b"", {}, [], []
        page = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        answer = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = {"sessionId": answer["sessionId"]}
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=helpers)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | self.session
        os.write(self.sending, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                part = os.read(self.received, 1 << 20)
                if not part:
                    sys.exit("the browser has gone")
                self.buffer += part
            text, _, self.buffer = self.buffer.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") != self.number:
                self.note(answer.get("method"), answer.get("params", {}))
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def note(self, method, told):
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(one.get("value")) for one in told["args"]))
        elif method == "Runtime.exceptionThrown":
            self.said.append(json.dumps(told)[:300])
        elif method == "Log.entryAdded":
            self.said.append(f"{told['entry']['source']}: {told['entry']['text']} {told['entry'].get('url', '')}")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, patience=60.0):
        """How long it takes until an expression is true; `None` if it does not become so in time."""
        start = time.monotonic()
        while time.monotonic() - start < patience:
            if self.value(f"(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"):
                return time.monotonic() - start
            time.sleep(0.03)
        return None

    def look(self, width=None, appearance=None, height=900):
        if width:
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=width < 500)
        if appearance:
            self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": appearance}])

    def keep(self, folder, name):
        """Keeps what the page looks like, if there is a folder for that."""
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            picture = self.call("Page.captureScreenshot", format="png")["data"]
            (folder / f"{name}.png").write_bytes(base64.b64decode(picture))

    def end(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
