import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { closeBrowser, DESKTOP, PHONE } from "../test/helpers/browser.ts";
import type { ScriptedRuntime } from "../test/helpers/conversation.ts";
import { type SessionPages, startSessionPages } from "../test/helpers/session-pages.ts";
import { until } from "../test/helpers/until.ts";
import { ROOT } from "./binaries.ts";
import { buildDashboard } from "./dashboard.ts";
import { makeAutomation } from "./screenshots-automation.ts";
import { makeReview, type Take } from "./screenshots-review.ts";

/** The folder of the screenshots in docs/. */
const FOLDER = join(ROOT, "docs/screenshots");
/** Time for fonts and animations after a page is loaded. */
const SETTLE_MS = 500;

const SIZES = [
  ["desktop", { size: DESKTOP }],
  ["phone", { size: PHONE }],
  ["dark", { size: DESKTOP, dark: true }],
] as const;

/** Takes the screenshots of the pages of sessions, change requests, triggers and apps. */
async function takePictures(pages: SessionPages): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const takeReview = await makeReview(pages);
  const takeAutomation = await makeAutomation(pages);
  const chat = await pages.running({ name: "Login page jumps on phones", agent_name: "build" });
  await converse(pages.runtimeOf(chat.session_id));
  const stopped = await pages.running({ name: "Sign-up form" });
  await pages.call("POST", `/${stopped.session_id}/stop`);
  await pages.becomes(stopped.session_id, "stopped");
  pages.provider.onStart = () => Promise.reject(new Error("no space left"));
  const failed = await pages.create({ name: "Upgrade the database driver" });
  await pages.becomes(failed.session_id, "failed");
  pages.provider.onStart = (_, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));
  const starting = await pages.create({ name: "Dark mode", initial_prompt: "Give the settings a dark mode" });

  for (const [size, options] of SIZES) {
    const take: Take = async (name, path, isThere) => {
      const { page, close } = await pages.open(path, options);
      await isThere(page);
      await page.waitForTimeout(SETTLE_MS);
      await page.screenshot({ path: join(FOLDER, `${name}-${size}.png`) });
      await close();
    };
    await take("sessions", "/sessions", (page) => page.getByText("Dark mode").waitFor());
    await take("session-starts", `/sessions/${starting.session_id}`, (page) =>
      page.locator("li[aria-current=step]").waitFor(),
    );
    await take("session-chat", `/sessions/${chat.session_id}`, (page) =>
      page.getByRole("button", { name: "Allow once" }).waitFor(),
    );
    await takeReview(take, size);
    if (size !== "dark") await takeAutomation(take);
  }
}

/** A conversation with all kinds of items. */
async function converse(runtime: ScriptedRuntime): Promise<void> {
  runtime.remember(["Why does the login page jump on phones?", REASON]);
  runtime.onPrompt(async (run) => {
    run.begin();
    await run.say("The sign-up page has the same form. I'll reserve its height there, too.");
    const path = "src/sign-up.css";
    run.tool("read", { status: "completed", input: { filePath: path }, output: "…", title: path });
    const metadata = { diff: PATCH, filediff: { additions: 4, deletions: 1 } };
    run.tool("edit", { status: "completed", input: { filePath: path }, output: "", metadata });
    run.tool("bash", { status: "completed", input: { command: "npm test" }, output: "…", title: "npm test" });
    await run.say("All 214 tests pass. To see it as a phone does, I'd like to build it.");
    await run.permission("bash", ["npm run build"]);
  });
  // on behalf of the user of the page
  runtime.prompt("and the same for the sign-up page");
  await until("the agent requests a permission", () => runtime.asks > 0);
}

const REASON = `The form is laid out **before its font is there**, and grows when it comes. I reserved its height:

\`\`\`css
.login form { min-height: 18rem }
\`\`\`

The change is in \`src/login.css\`, and its test in \`test/login.test.ts\`.`;

const PATCH = `@@ -1 +1,4 @@
-.sign-up form {}
+.sign-up form {
+  min-height: 18rem;
+  font-display: swap;
+}
`;

if (import.meta.main) {
  await buildDashboard();
  const pages = await startSessionPages();
  try {
    await takePictures(pages);
  } finally {
    await pages.stop();
    await closeBrowser();
  }
  // these tests create what their screenshots need
  const tests = ["test/dashboard/settings-barriers", "test/dashboard/home"];
  const test = [process.execPath, "scripts/test.ts", ...tests];
  const env = { ...process.env, SVC_SCREENSHOTS: FOLDER };
  process.exitCode = await Bun.spawn(test, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"] })
    .exited;
}
