import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { emitKeypressEvents } from "node:readline";
import { PassThrough } from "node:stream";
import { AskForm } from "../../cli/chat/ask-form.ts";
import { change, type Draft, draftOf, EMPTY, shownOf, textOf } from "../../cli/chat/editor.ts";
import { addToHistory, historyPath, readHistory } from "../../cli/chat/history.ts";
import { Input } from "../../cli/chat/input.ts";
import { Keyboard } from "../../cli/chat/keys.ts";
import type { WaitingFor } from "../../src/contract/session.ts";
import { makeHome } from "../helpers/cli-run.ts";
import { fc } from "../helpers/property.ts";

/** What a person's keys make of a draft; Enter ends it. `|` is the cursor. */
function typing(...keys: string[]): string {
  const keyboard = new Keyboard();
  const stdin = new PassThrough();
  let draft: Draft = EMPTY;
  emitKeypressEvents(stdin);
  stdin.on("keypress", (text, key) => {
    const pressed = keyboard.read(text, key);
    if (
      pressed.do === "insert" ||
      pressed.do === "paste" ||
      pressed.do === "move" ||
      pressed.do === "erase"
    ) {
      draft = change(draft, pressed);
    }
  });
  for (const key of keys) stdin.emit("data", Buffer.from(key));
  const { cells, at } = draft;
  const shown = cells.map((cell) => cell.shown);
  return [...shown.slice(0, at), "|", ...shown.slice(at)].join("");
}

const LEFT = "\x1b[D";
const RIGHT = "\x1b[C";
const UP = "\x1b[A";
const DOWN = "\x1b[B";
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

describe("keys", () => {
  test.each([
    [["abc"], "abc|"],
    [["abc", LEFT, "x"], "abx|c"],
    [["abc", "\x1b[H", "x", "\x1b[F", "y"], "xabcy|"],
    [["abc", "\x01", "x", "\x05", "y"], "xabcy|"],
    [["abc", "\x7f", "\x7f"], "a|"],
    [["abc", "\x02", "\x02", "\x1b[3~"], "a|c"],
    [["one two", "\x17", "x"], "one x|"],
    [["one two", "\x1bb", "\x0b"], "one |"],
    [["one two", "\x15", "x"], "x|"],
    [["one, two", "\x1bb", "\x1bb", "\x1bd"], "|, two"],
    [["one two", "\x1b[1;5D", "\x1b[1;5D", "\x1b[1;5C", "!"], "one!| two"],
    [["one\x1b\rtwo"], "one\ntwo|"],
    [["one\ntwo"], "one\ntwo|"],
    [["one", "\x1b\r", "two", UP, "x"], "onex|\ntwo"],
    [["one", "\x1b\r", "t", UP, UP, DOWN, "x"], "one\ntx|"],
    // one character, however many code points it takes
    [["👨‍👩‍👧", "\x7f"], "|"],
    [["e", "\u0301", "\x7f"], "|"],
    [["🇩🇪界", LEFT, LEFT, "a"], "a|🇩🇪界"],
    [["👍🏽x", LEFT, "\x7f"], "|x"],
    [["한국", LEFT, "y", RIGHT, "z"], "한y국z|"],
    // what would act on a terminal is spelled out
    [[paste("a\x07b\u202ec")], "a\\x07b\\u202ec|"],
    [["\x1b[Z", "\x1b[5~", "\x1b[15~", "\x1bx"], "|"],
  ] as [string[], string][])("%j make %j", (keys, shown) => {
    expect(typing(...keys)).toBe(shown);
  });

  test("a paste is one change with normalized line endings, and is shown as its size when long", () => {
    expect(typing(paste("a\rb\r\nc"))).toBe("a\nb\nc|");
    const long = "0123456789".repeat(1000);
    expect(typing("see ", paste(long), " end")).toBe("see [pasted 10,000 characters] end|");
    expect(typing(paste("line\r".repeat(2000)))).toBe("[pasted 10,000 characters, 2001 lines]|");
    expect(typing(paste(long), "\x7f", "x")).toBe("x|");
    expect(typing(paste("\x1b[A\x03"))).toBe("\\x1b[A\\x03|");
  });
});

test("a draft holds any text that was inserted", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 600 }), { maxLength: 6 }), (texts) => {
      const draft = texts.reduce((so, text) => change(so, { do: "paste", text }), EMPTY);
      expect(textOf(draft)).toBe(texts.map((text) => text.replace(/\r\n?/g, "\n")).join(""));
      expect(shownOf(draft)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      expect(draft.at).toBe(draft.cells.length);
    }),
  );
});

test("a cursor stays within its draft, and an erase removes what the same motion passes over", () => {
  const how = fc.constantFrom(
    "left",
    "right",
    "word left",
    "word right",
    "line start",
    "line end",
    "up",
    "down",
  );
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.array(how), how, (text, moves, last) => {
      const draft = moves.reduce((so, to) => change(so, { do: "move", to }), draftOf(`${text}\n${text}`));
      const moved = change(draft, { do: "move", to: last });
      const erased = change(draft, { do: "erase", to: last });
      expect(moved.at).toBeGreaterThanOrEqual(0);
      expect(moved.at).toBeLessThanOrEqual(draft.cells.length);
      expect(erased.cells.length).toBe(draft.cells.length - Math.abs(moved.at - draft.at));
    }),
  );
});

describe("the history", () => {
  test("is recalled entry by entry, and keeps the new draft", () => {
    const input = new Input(["one", "two\nlines"]);
    const up = () => input.change({ do: "move", to: "up" });
    const down = () => input.change({ do: "move", to: "down" });
    const text = () => textOf(input.draft);
    input.change({ do: "insert", text: "new" });
    up();
    expect(text()).toBe("two\nlines");
    up();
    up();
    expect(text()).toBe("one");
    down();
    down();
    down();
    expect(text()).toBe("new");
    expect(input.submit()).toEqual({ text: "new", shown: "new" });
    input.addToHistory("new");
    input.recall(-1);
    expect(text()).toBe("new");
  });

  test("is not recalled into an answer, which stashes the draft", () => {
    const input = new Input(["past"]);
    input.change({ do: "insert", text: "half a thou" });
    input.stash();
    input.recall(-1);
    input.change({ do: "insert", text: "y" });
    expect(input.submit()?.text).toBe("y");
    input.unstash();
    expect(textOf(input.draft)).toBe("half a thou");
  });

  test("Enter after a backslash inserts a line break", () => {
    const input = new Input([]);
    input.change({ do: "insert", text: "a\\" });
    expect(input.submit()).toBeNull();
    input.change({ do: "insert", text: "b" });
    expect(input.submit()?.text).toBe("a\nb");
  });

  test("is stored in a file that only its owner can read, within its limits", async () => {
    const { home } = makeHome();
    const path = historyPath({ env: { HOME: home } });
    expect(path).toBe(join(home, ".local/state/svc/chat-history"));
    expect(historyPath({ env: { HOME: home, XDG_STATE_HOME: "/x" } })).toBe("/x/svc/chat-history");
    expect(historyPath({ env: { HOME: home, XDG_STATE_HOME: "x" } })).toBe(path);
    expect(await readHistory(path)).toEqual([]);
    for (const entry of ["a\nb", "a\nb", "\x1b[2J", "x".repeat(30_000)]) await addToHistory(path, entry);
    expect(await readHistory(path)).toEqual(["a\nb", "\x1b[2J"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain("\x1b");
    const many = Array.from({ length: 3000 }, (_, n) => JSON.stringify(`${n} ${"y".repeat(5000)}`));
    writeFileSync(path, ["no json", ...many, "{}", ""].join("\n"));
    await addToHistory(path, "last");
    const kept = await readHistory(path);
    expect(kept.at(-1)).toBe("last");
    expect(kept.length).toBeLessThanOrEqual(1000);
    expect(statSync(path).size).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  test("rejects where the file cannot be written", async () => {
    const { home } = makeHome();
    const path = join(home, "file/chat-history");
    mkdirSync(home, { recursive: true });
    writeFileSync(dirname(path), "no folder");
    expect(addToHistory(path, "x")).rejects.toThrow();
    expect(await readHistory(path)).toEqual([]);
  });
});

describe("an answer", () => {
  const options = [
    { label: "Red", description: "" },
    { label: "Dark blue", description: "" },
  ];
  const question = { question: "Which?", options, multiple: false, custom: true };
  const base = { request_id: "req_1", kept: false, patterns: [] };
  const askFor = (...questions: WaitingFor["questions"]): WaitingFor => ({
    ...{ ...base, kind: "question", permission: null, questions },
  });
  const asking = (change: object = {}): AskForm => new AskForm(askFor({ ...question, ...change }));

  test.each([
    ["1", {}, ["Red"]],
    [" dark BLUE ", {}, ["Dark blue"]],
    ["green", {}, ["green"]],
    ["3", { custom: false }, null],
    ["green", { custom: false }, null],
    ["2, red", { multiple: true }, ["Dark blue", "Red"]],
    ["1,9", { multiple: true, custom: false }, null],
    ["anything", { options: [], custom: false }, ["anything"]],
  ] as [string, object, string[] | null][])("%j of %j is %j", (words, change, labels) => {
    const reply = asking(change).reply(words);
    expect(reply).toMatchObject(labels ? { is: "answer", answer: [labels] } : { is: "again" });
  });

  test("is collected one question at a time", () => {
    const ask = askFor(question, question);
    const two = new AskForm(ask);
    expect(two.reply("1")).toEqual({ is: "more" });
    expect(two.hint).toStartWith("2. ");
    expect(two.reply("2")).toEqual({ is: "answer", answer: [["Red"], ["Dark blue"]] });
    expect(new AskForm(ask).reply("/skip")).toEqual({ is: "answer", answer: null });
  });

  test("to a permission request is one of the known words", () => {
    const permission = () => new AskForm({ ...base, kind: "permission", permission: "bash", questions: [] });
    expect(permission().reply("Y")).toEqual({ is: "answer", answer: "once" });
    expect(permission().reply("always")).toEqual({ is: "answer", answer: "always" });
    expect(permission().reply("n")).toEqual({ is: "answer", answer: "reject" });
    for (const words of ["", "yeah", "y n", "/skip"]) {
      expect(permission().reply(words)).toMatchObject({ is: "again" });
    }
  });
});
