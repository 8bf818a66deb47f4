"""Chromium with one page, spoken to by the DevTools protocol through a pipe. In Debian the package `chromium`."""
import json
import os
import subprocess
import tempfile
import time

# In a container the folder of shared memory is too small for a browser.
COMMAND = ("chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
           "--disable-dev-shm-usage --remote-debugging-pipe about:blank --user-data-dir=")
EVENTS = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")


class Browser:
    """Evaluates JavaScript in its page, and keeps what the page says."""

    def __init__(self, helpers):
        self.folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        self.received, out = os.pipe()
        into, self.sending = os.pipe()
        # The browser reads from 3 and writes to 4, which a shell can give it.
        self.process = subprocess.Popen(f"exec {COMMAND}{self.folder.name} 3<&{into} 4>&{out}", shell=True,
                                        pass_fds=(into, out), stderr=subprocess.DEVNULL)
        os.close(out)
        self.number, self.buffer, self.session, self.said = 0, b"", {}, []
        page = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        answer = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = {"sessionId": answer["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
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
                    raise EOFError("the browser has gone")
                self.buffer += part
            text, _, self.buffer = self.buffer.partition(b"\0")
            answer = json.loads(text)
            if answer.get("method") in EVENTS:
                self.said.append(json.dumps(answer["params"])[:300])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, patience=60):
        """How long it takes until an expression is true; `None` if it does not become so in time."""
        start = time.monotonic()
        while time.monotonic() - start < patience:
            if self.value(f"(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()"):
                return time.monotonic() - start
            time.sleep(0.03)
        return None

    def look(self, width, height, appearance):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": appearance}])

    def end(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
