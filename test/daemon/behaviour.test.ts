import { describe } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signedPath } from "../../src/contract/user-context.ts";
import { testProxyBehaviour, type Way } from "../helpers/behaviour.ts";
import { type Sandbox, startSandbox } from "../helpers/sandbox.ts";

function wayOf(sandbox: Sandbox, base: string): Way {
  return {
    base,
    headers: (method, target) => sandbox.headers({ method, path: signedPath(target) }),
    processes: [sandbox.child.pid],
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

describe("to a port of the sandbox", () => {
  testProxyBehaviour(async (port) => {
    const sandbox = await startSandbox();
    await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
    return wayOf(sandbox, `${sandbox.url}/proxy/${port}`);
  });
});

describe("to the runtime", () => {
  testProxyBehaviour(
    async (port) => {
      // the runtime's program only says that it listens: the suite's origin does
      const folder = mkdtempSync(join(tmpdir(), "svc-origin-"));
      const program = join(folder, "opencode");
      writeFileSync(program, "#!/bin/sh\necho opencode server listening\nexec sleep 600\n");
      chmodSync(program, 0o755);
      const env = { SVC_RUNTIME_PORT: String(port), SVC_RUNTIME_BIN: program };
      const sandbox = await startSandbox({ env });
      await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
      rmSync(folder, { recursive: true });
      return { ...wayOf(sandbox, sandbox.url), down: 503 };
    },
    { brief: true },
  );
});
