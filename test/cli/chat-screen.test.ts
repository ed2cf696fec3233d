import { describe, expect, test } from "bun:test";
import { draftOf, EMPTY } from "../../cli/chat/editor.ts";
import { Screen } from "../../cli/chat/screen.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";
import { openScreen } from "../helpers/screen.ts";

/** A chat's screen on a terminal that can be looked at, and changes its size. */
function open(columns = 40, rows = 12) {
  const shown = openScreen(columns, rows);
  const size = { columns, rows };
  const screen = new Screen({
    size,
    async write(chunk) {
      shown.write(chunk);
    },
  });
  return {
    screen,
    shown,
    resize(to: number) {
      size.columns = to;
      shown.resize(to, rows);
      screen.resize();
    },
  };
}

const STATUS = "the agent works on something · Ctrl-C aborts";
const DRAFT = "what is typed meanwhile, longer than narrow terminals are wide";
const fitting = (line: string, columns: number) =>
  line.length < columns ? line : `${line.slice(0, columns - 2)}…`;

const words = fc.string({ unit: fc.constantFrom(..."abc defg.é界한👍\t"), maxLength: 60 });
const piece = fc.oneof(words, words, fc.constant("\n"));

describe("output", () => {
  test("is shown above the draft, in any chunks, exactly once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(piece, fc.constantFrom("", "works"), words), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 20, max: 90 }),
        async (steps, columns) => {
          const { screen, shown } = open(columns);
          let said = "";
          let typed = "";
          for (const [text, status, more] of steps) {
            typed = more.replaceAll("\t", "");
            screen.print(text);
            said += text;
            screen.show(status, "> ", draftOf(typed));
            await screen.flushed();
          }
          screen.show("", "> ", EMPTY);
          await screen.flushed();
          const output = said.split("\n").map((line) => untabbed(line).trimEnd());
          if (said.endsWith("\n") || said === "") output.pop();
          const all = [...output, ">"];
          expect((await shown.lines()).map((line) => line.trimEnd())).toEqual(all);
        },
      ),
      { numRuns: share(40, 1_000) },
    );
  });

  // Tall: a narrower terminal moves rows into its history, where they cannot be erased, even with room below the cursor.
  test("survives a resize of the terminal", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(piece, fc.integer({ min: 20, max: 90 })), { minLength: 1, maxLength: 12 }),
        async (steps) => {
          const { screen, shown, resize } = open(40, 100);
          let said = "";
          for (const [text, columns] of steps) {
            screen.print(text);
            said += text;
            screen.show(STATUS, "> ", draftOf(DRAFT));
            await screen.flushed();
            await shown.lines();
            resize(columns);
            await screen.flushed();
          }
          const plain = (text: string) => text.replace(/\s/g, "");
          const status = fitting(STATUS, steps.at(-1)?.[1] ?? 0);
          expect(plain((await shown.lines()).join(""))).toBe(plain(`${said}${status}>${DRAFT}`));
        },
      ),
      { numRuns: share(40, 1_000) },
    );
  });
});

const untabbed = (line: string): string => {
  let out = "";
  for (const [index, part] of line.split("\t").entries()) {
    out += (index === 0 ? "" : " ".repeat(8 - (Bun.stringWidth(out) % 8))) + part;
  }
  return out;
};

test("the cursor is after the text before it, whatever characters that has", async () => {
  const unit = fc.constantFrom("a", "界", "é", "e\u0301", "👍", "👨‍👩‍👧", "🇩🇪", " ", "\n", "\x07", "\u202e");
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { maxLength: 40 }), fc.nat(40), async (characters, place) => {
      const { screen, shown } = open(30);
      const draft = draftOf(characters.join(""));
      const at = Math.min(place, draft.cells.length);
      screen.show("", "> ", { cells: draft.cells, at });
      await screen.flushed();
      const before = draft.cells.slice(0, at).map(({ shown: part }) => part);
      const last = before.join("").split("\n").at(-1) ?? "";
      const line = (await shown.beforeCursor()).replace(/^[> ] /, "");
      expect(last.replaceAll(" ", "").endsWith(line.replaceAll(" ", ""))).toBe(true);
      const room = 30 - 1 - 2;
      if (Bun.stringWidth(last) < room - 6) expect(line).toBe(last);
    }),
    { numRuns: share(100, 2_000) },
  );
});

test("a draft that is too tall shows the rows around the cursor", async () => {
  const { screen, shown } = open(40, 9);
  const draft = draftOf(Array.from({ length: 4 }, (_, row) => `row ${row}`).join("\n"));
  let tall = draft;
  for (let row = 4; row < 30; row++) {
    tall = { cells: [...tall.cells, ...draftOf(`\nrow ${row}`).cells], at: 0 };
  }
  screen.print("said\n");
  screen.show("", "> ", { ...tall, at: tall.cells.length });
  await screen.flushed();
  expect((await shown.lines()).at(-1)).toBe("  row 29");
  expect((await shown.lines()).length).toBeLessThanOrEqual(9);
  screen.show("", "> ", { ...tall, at: 0 });
  await screen.flushed();
  expect((await shown.lines()).slice(0, 2)).toEqual(["said", "> row 0"]);
});
