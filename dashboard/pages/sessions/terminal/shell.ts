import { FitAddon } from "@xterm/addon-fit";
import { type ITheme, Terminal } from "@xterm/xterm";
import type { StartedExec } from "../../../../src/contract/exec.ts";
import { ExecClient, type ExecExit } from "../../../../src/conversation/exec.ts";
import { call } from "../../../api/call.ts";
import { FROM_DASHBOARD } from "../../../api/from-dashboard.ts";
import { allowStyles } from "./style-sheets.ts";

export type ShellState =
  | { kind: "starting" }
  | { kind: "open" }
  /** The connection is made again. */
  | { kind: "lost" }
  | { kind: "ended"; exit: ExecExit }
  | { kind: "failed"; error: unknown };

/** Lines that can be scrolled back to. */
const SCROLLBACK = 5_000;
/** Answers that a new attempt does not change. */
const FINAL: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Opens a shell of a session's sandbox in an element.
 * @param own the path of the session's routes, below `/v1`
 * @param leave moves the focus out of the terminal
 * @returns ends the shell
 */
export function openShell(
  element: HTMLElement,
  { own, leave, onState }: { own: string; leave(): void; onState(state: ShellState): void },
): () => void {
  allowStyles();
  const terminal = new Terminal({
    fontFamily: getComputedStyle(element).fontFamily,
    fontSize: 13,
    scrollback: SCROLLBACK,
    theme: themeOf(element),
    minimumContrastRatio: 4.5,
    // the text of a link says nothing about its target
    linkHandler: { activate() {} },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  fit.fit();
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== "Escape" || !event.shiftKey) return true;
    if (event.type === "keydown") leave();
    return false;
  });
  const resized = new ResizeObserver(() => {
    // behind another view it has no size
    if (element.offsetParent !== null) fit.fit();
  });
  resized.observe(element);
  const themed = new MutationObserver(() => {
    terminal.options.theme = themeOf(element);
  });
  themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  let client: ExecClient | null = null;
  let isClosed = false;
  const end = () => client?.end();
  window.addEventListener("pagehide", end);
  void run();
  return () => {
    isClosed = true;
    end();
    window.removeEventListener("pagehide", end);
    resized.disconnect();
    themed.disconnect();
    terminal.dispose();
  };

  async function run(): Promise<void> {
    try {
      const { cols, rows } = terminal;
      const started = await call<StartedExec>("POST", `${own}/exec`, { body: { tty: true, cols, rows } });
      client = clientOf(terminal, started, onState);
      if (isClosed) client.end();
      const exit = await client.finished;
      if (!isClosed) onState({ kind: "ended", exit });
    } catch (error) {
      if (!isClosed) onState({ kind: "failed", error });
    }
  }
}

function clientOf(
  terminal: Terminal,
  { path }: StartedExec,
  onState: (state: ShellState) => void,
): ExecClient {
  const show = (bytes: Uint8Array) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    terminal.write(bytes, resolve);
    return promise;
  };
  const client = new ExecClient({
    connect: (query) => new WebSocket(`${location.origin.replace(/^http/, "ws")}${path}?${query}`),
    refusal: () => refusalOf(path),
    stdout: show,
    stderr: show,
    onAttached() {
      onState({ kind: "open" });
      terminal.focus();
    },
    onLost: () => onState({ kind: "lost" }),
  });
  const bytesOf = new TextEncoder();
  terminal.onData((text) => void client.write(bytesOf.encode(text)));
  terminal.onBinary((text) => void client.write(Uint8Array.from(text, (each) => each.charCodeAt(0))));
  terminal.onResize(({ cols, rows }) => client.resize(cols, rows));
  return client;
}

/** Asks by HTTP, since a WebSocket does not show why it was refused. */
async function refusalOf(path: string): Promise<Error | null> {
  const response = await fetch(path, { headers: FROM_DASHBOARD, signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  return FINAL.has(response.status) ? new Error("The shell has ended with its sandbox.") : null;
}

/** The colours of the page, which the terminal must have as values. */
function themeOf(element: HTMLElement): ITheme {
  const { color, backgroundColor } = getComputedStyle(element);
  return { foreground: color, background: backgroundColor, cursor: color, cursorAccent: backgroundColor };
}
