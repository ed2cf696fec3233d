import { join } from "node:path";
import type { Page } from "playwright-core";
import { until } from "../test/helpers/until.ts";
import type { Frame } from "./apng.ts";
import { DIST } from "./binaries.ts";
import { openTerminalPage, type TerminalPage } from "./terminal-page.ts";

export const SIZE = { width: 960, height: 600 };
/** What fits into it. */
const [COLUMNS, ROWS] = [100, 25];
/** Time for fonts and animations after a page has changed. */
const SETTLE_MS = 700;
const COMMENT = 'The page could say "Welcome aboard".';

interface Stage {
  url: string;
  env: Record<string, string>;
  /** A page that shows the terminal. */
  terminal: Page;
  /** A page of the dashboard, signed in. */
  dashboard: Page;
}

/** Plays `svc demo` on a terminal and in the dashboard. @returns the frames of its picture */
export async function playDemo({ url, env, terminal, dashboard }: Stage): Promise<Frame[]> {
  const frames: Frame[] = [];
  const take = async (page: Page, ms: number) => {
    await page.waitForTimeout(SETTLE_MS);
    frames.push({ png: await page.screenshot(), ms });
  };
  const screen = openTerminalPage(COLUMNS, ROWS);
  const takeTerminal = async (ms: number) => {
    await terminal.setContent(await screen.html());
    await take(terminal, ms);
  };
  screen.write("$ svc demo");
  await takeTerminal(1200);
  screen.write("\r\n");
  const child = Bun.spawn([join(DIST, "svc"), "demo"], {
    env,
    terminal: { cols: COLUMNS, rows: ROWS, data: (_, bytes) => screen.write(bytes) },
  });
  try {
    const shows = (text: string) => untilShown(screen, text);
    await shows("✓ clone");
    await takeTerminal(2500);
    await shows("The agent works");
    const [, slug = ""] = /--project (\S+)/.exec(await screen.text()) ?? [];
    const project = `${url}/projects/${slug}`;
    await dashboard.goto(`${project}/sessions`);
    await dashboard.getByRole("link", { name: "Greet the visitors" }).click();
    await dashboard.getByText("The change request is open.").waitFor();
    await take(dashboard, 3000);

    await shows("Your comment.");
    await takeTerminal(2500);
    await dashboard.goto(`${project}/change-requests/1?view=changes`);
    const line = dashboard.getByRole("button", { name: "Comment on line 12, added" });
    await line.focus();
    await dashboard.keyboard.press("Enter");
    await take(dashboard, 1200);
    await dashboard.keyboard.type(COMMENT);
    await take(dashboard, 2000);
    await dashboard.keyboard.press("Control+Enter");
    await dashboard.getByText(COMMENT).first().waitFor();
    await dashboard.getByRole("link", { name: "Conversation" }).click();
    const send = dashboard.getByRole("button", { name: "Send to the session" });
    await send.scrollIntoViewIfNeeded();
    await take(dashboard, 1800);
    await send.click();
    const reply = dashboard.getByText("(A script wrote this reply.)");
    await reply.waitFor();
    await reply.scrollIntoViewIfNeeded();
    await take(dashboard, 2500);

    const merge = dashboard.getByRole("button", { name: "Merge", exact: true });
    await merge.scrollIntoViewIfNeeded();
    await merge.click();
    await dashboard.getByRole("heading", { name: "Merged into main" }).waitFor();
    await take(dashboard, 2000);
    await shows("The demo is complete");
    await takeTerminal(2500);
    await dashboard.goto(`${project}/apps/site`);
    const opens = dashboard.context().waitForEvent("page");
    await dashboard.getByRole("button", { name: "Open the app" }).click();
    const app = await opens;
    await app.setViewportSize(SIZE);
    await app.getByRole("heading", { name: "Welcome aboard" }).waitFor();
    await take(app, 3000);
    return frames;
  } finally {
    child.kill();
    await child.exited;
    child.terminal?.close();
  }
}

async function untilShown(screen: TerminalPage, text: string): Promise<void> {
  let shown = "";
  await until(
    () => `the terminal shows ${text}; it shows:\n${shown}`,
    async () => {
      shown = await screen.text();
      return shown.includes(text);
    },
  );
}
