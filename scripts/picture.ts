import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { animate } from "./apng.ts";
import { DIST, ROOT } from "./binaries.ts";
import { build } from "./build.ts";
import { playDemo, SIZE } from "./picture-scenes.ts";
import { run } from "./run.ts";

/** `npm run picture`: takes the README's moving picture of `svc demo`, with the real server, agent runtime and browser. */
const FILE = join(ROOT, "docs/screenshots/demo.png");
/** A README is read on a phone, too. */
const BYTES_MAX = 2_000_000;

// with this, the helpers of the tests start dist/svc-api
process.env["SVC_TEST_DIST"] = "1";
const { startApi } = await import("../test/helpers/api.ts");
const { sharedBrowser, signIn, visit } = await import("../test/helpers/browser.ts");
const { AGENT, RUNTIME, RUNTIME_PLUGINS } = await import("../test/helpers/runtime.ts");

if (AGENT[1]) await take();
else {
  process.stderr.write(`svc: the picture needs ${AGENT[0]}\n`);
  process.exitCode = 1;
}

async function take(): Promise<void> {
  await build();
  const home = mkdtempSync(join(tmpdir(), "svc-picture-"));
  const runtime = { SVC_RUNTIME_BIN: RUNTIME ?? "", SVC_RUNTIME_PLUGINS: RUNTIME_PLUGINS ?? "" };
  const [api, browser] = await Promise.all([
    startApi({ env: { ...runtime, SVC_SANDBOX_PROVIDER: "local" } }),
    sharedBrowser(),
  ]);
  try {
    // nothing of this machine's settings; the browser of the picture is another
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, TERM: "xterm-256color", SVC_BROWSER: "true" };
    const login = ["login", "--host", "local-dev", "--api", `${api.url}/v1`, "--token", "-"];
    const { code, err } = await run([join(DIST, "svc"), ...login], { env, input: api.token });
    if (code !== 0) throw new Error(err);
    const dashboard = await visit(browser, `${api.url}/assets/icon.svg`, { size: SIZE });
    await signIn(dashboard, api);
    const terminal = await browser.newPage({ viewport: SIZE });
    const frames = await playDemo({ url: api.url, env, terminal, dashboard: dashboard.page });
    await Bun.write(FILE, animate(frames));
  } finally {
    await browser.close();
    await api.stop();
    rmSync(home, { recursive: true, force: true });
  }
  const size = existsSync(FILE) ? statSync(FILE).size : 0;
  process.stderr.write(`svc: ${FILE} has ${size} bytes\n`);
  if (size > BYTES_MAX) throw new Error(`the picture must have at most ${BYTES_MAX} bytes`);
}
