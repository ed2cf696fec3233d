import { type IBufferCell, Terminal } from "@xterm/headless";

/** A terminal whose screen can be shown as a page. */
export interface TerminalPage {
  write(bytes: string | Uint8Array): void;
  /** Its visible lines as text. */
  text(): Promise<string>;
  /** Its screen as HTML. */
  html(): Promise<string>;
}

export function openTerminalPage(columns: number, rows: number): TerminalPage {
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true });
  const settled = () => new Promise<void>((done) => terminal.write("", done));
  const lines = async () => {
    await settled();
    const { active } = terminal.buffer;
    return Array.from({ length: rows }, (_, row) => active.getLine(active.viewportY + row));
  };
  return {
    write: (bytes) => terminal.write(bytes),
    text: async () => (await lines()).map((line) => line?.translateToString(true) ?? "").join("\n"),
    async html() {
      const shown = (await lines()).map((line) => {
        let text = "";
        for (let at = 0; at < columns; at++) text += cellHtml(line?.getCell(at));
        return text.trimEnd();
      });
      return `<style>${STYLE}</style><main><header>Terminal</header><pre>${shown.join("\n")}</pre></main>`;
    },
  };
}

/** The colours of the 16 that svc uses. */
const COLOURS: Readonly<Record<number, string>> = {
  1: "#ff8080",
  2: "#7ee29b",
  3: "#e8d27a",
  4: "#82b1ff",
  5: "#d7a6ff",
  6: "#6fd3e8",
  8: "#8b95a1",
};

const STYLE = `
  body { margin: 0; background: #dfe5ec; }
  main { margin: 10px; border-radius: 10px; overflow: hidden; background: #14181d; }
  header { padding: 7px; text-align: center; font: 13px system-ui, sans-serif; color: #aab4bf; background: #262c33; }
  pre { margin: 0; padding: 10px 16px; font: 15px/21px "DejaVu Sans Mono", monospace; color: #e6ebf0; }
`;

function cellHtml(cell: IBufferCell | undefined): string {
  const text = cell?.getChars() || (cell?.getWidth() === 0 ? "" : " ");
  const shown = text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  if (!cell) return shown;
  const colour = cell.isFgPalette() ? COLOURS[cell.getFgColor()] : undefined;
  const style = [
    ...(colour ? [`color:${colour}`] : []),
    ...(cell.isBold() ? ["font-weight:bold"] : []),
    ...(cell.isDim() ? ["opacity:.6"] : []),
    ...(cell.isInverse() ? ["background:#e6ebf0;color:#14181d"] : []),
  ].join(";");
  return style === "" ? shown : `<span style="${style}">${shown}</span>`;
}
