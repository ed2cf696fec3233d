import { expect, test } from "bun:test";
import { paintDiff } from "../../cli/commands/paint-diff.ts";
import { painter, runJq } from "../../cli/output.ts";
import { run } from "../../cli/run.ts";
import { lines, oneLine, safeJson, shellWord } from "../../cli/text.ts";
import { CLEAN, changeRequest, failure, project, TOKEN } from "../helpers/cli-api.ts";
import { fakeSystem } from "../helpers/cli-run.ts";
import { changed, eventStream, logLine, SESSION_ID, session } from "../helpers/cli-sessions.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

/** What makes a terminal do something: C0 but line feed and tab, DEL, C1, direction marks, separators, tags. */
const ACTIVE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
const SGR = /\x1b\[\d+m/g;

/** Text with a liking for what must not get through. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\x1b[2J",
        "\x1b]0;title\x07",
        "\x1b]52;c;aGk=\x07",
        "\u009b31m",
        "\u0090",
        "\r",
        "\n",
        "\t",
        "\b",
        "\x7f",
        "\u202e",
        "\u2066",
        "\u200f",
        "\u2028",
        "\ud800",
        "\u{e0041}",
        "日本語",
        "👩‍👩‍👧",
        "a",
        "\0",
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

const RUNS = { numRuns: share(60, 2_000) };

test("no command prints control characters from the server to a terminal", async () => {
  const property = fc.asyncProperty(
    hostile,
    hostile,
    hostile,
    fc.boolean(),
    async (title, ref, text, tty) => {
      const cr = changeRequest({
        title,
        head_ref: ref,
        base_ref: text,
        description: text,
        origin_session_id: ref,
      });
      const conflict = { ...CLEAN, can_merge: false, conflicts: [ref, text] };
      const failed = session({ name: title, base_ref: ref, agent_name: text, status: "failed", error: text });
      const lines = [logLine(text), { at: ref, source: "build" as const, text: title }];
      const answers: Record<string, () => Response> = {
        "/sessions": () => Response.json({ sessions: [failed, { ...failed, step: ref, status: title }] }),
        [`/${SESSION_ID}`]: () => Response.json(failed),
        "/logs": () => Response.json({ lines, truncated: true }),
        "/restart": () => Response.json({ ...failed, status: "provisioning", step: ref }),
        "/stop": () => Response.json({ ...failed, status: "stopped", stop_reason: ref }),
        "/preview": () => Response.json({ url: text, expires_at: ref }),
        "/events": () =>
          eventStream([...lines.map((line) => ({ type: "log" as const, line })), changed(failed)]),
        "/change-requests": () => Response.json({ change_requests: [cr, { ...cr, number: 4 }] }),
        "/3": () => Response.json({ change_request: cr }),
        "/merge-preview": () => Response.json(conflict),
        "/manifest": () =>
          Response.json({
            path: ref,
            changed: true,
            errors: [{ path: title, message: text, line: 1, column: 1, severity: "error" }],
            opens: [text],
          }),
        "/close": () => Response.json({ ...cr, status: "closed" }),
        "/diff": () => new Response(`diff --git a/${ref} b/${ref}\n@@ -1 +1 @@\n-${title}\n+${text}`),
        "/merge": () => failure("merge_conflict", title, 409, { conflicts: [ref] }),
        "/reopen": () => failure("not_closed", text, 409, { request_id: ref }),
        "/projects": () => Response.json({ projects: [project({ name: title, slug: ref, repo_url: text })] }),
        "/shop": () => Response.json(project({ name: title, slug: ref, repo_url: text })),
        "/whoami": () =>
          Response.json({ kind: "project", email: title, project_name: ref, session_id: text }),
      };
      for (const line of [
        ["cr", "ls"],
        ["cr", "show", "3"],
        ["cr", "close", "3"],
        ["cr", "merge", "3"],
        ["cr", "reopen", "3"],
        ["cr", "diff", "3", "--no-pager"],
        ["cr", "show", "3", "--json"],
        ["cr", "show", "3", "--jq", ".title"],
        ["cr", "merge", "3", "--json"],
        ["projects", "ls"],
        ["projects", "info", "shop"],
        ["whoami"],
        ["sessions", "ls"],
        ["sessions", "info", SESSION_ID],
        ["sessions", "info", SESSION_ID, "--json"],
        ["sessions", "logs", SESSION_ID],
        ["sessions", "logs", SESSION_ID, "--follow"],
        ["sessions", "restart", SESSION_ID],
        ["sessions", "stop", SESSION_ID],
        ["sessions", "rename", SESSION_ID, "x"],
        ["sessions", "rm", SESSION_ID, "--yes"],
        ["sessions", "preview", SESSION_ID],
        ["api", "projects"],
        ["api", "projects", "--jq", ".projects[].name"],
      ]) {
        const raw = !tty && (line[1] === "diff" || line[0] === "api" || line.includes("--jq"));
        const system = fakeSystem({
          env: {
            SVC_API_URL: "http://svc.test/v1",
            SVC_CLI_TOKEN: TOKEN,
            SVC_PROJECT_ID: "shop",
            TERM: "xterm",
            CI: "1",
          },
          tty: { stdout: tty, stderr: tty },
          fetch: async (url) =>
            answers[`/${new URL(url).pathname.split("/").at(-1)}`]?.() ?? failure("not_found", "?", 404),
        });
        await run(system, line);
        const written = (raw ? "" : system.out()) + system.err();
        expect(written.replace(SGR, "")).not.toMatch(ACTIVE);
        expect(system.out() + system.err()).not.toContain("Something went wrong inside svc");
      }
    },
  );
  await fc.assert(property, { numRuns: share(25, 500) });
});

test("a patch keeps its text without control characters, however its bytes are split", async () => {
  const property = fc.asyncProperty(
    fc.uint8Array({ maxLength: 400 }),
    fc.integer({ min: 1, max: 50 }),
    async (bytes, size) => {
      async function* chunks() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
      }
      let painted = "";
      for await (const part of paintDiff(chunks(), painter(true))) painted += part;
      expect(painted.replace(SGR, "")).not.toMatch(ACTIVE);
      let plain = "";
      for await (const part of paintDiff(chunks(), painter(false))) plain += part;
      expect(plain).toBe(painted.replace(SGR, ""));
      expect(plain.split("\n").length).toBe(new TextDecoder().decode(bytes).split("\n").length);
    },
  );
  await fc.assert(property, RUNS);
});

test("JSON keeps its value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = safeJson(JSON.stringify(value));
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(json).not.toMatch(ACTIVE);
    }),
    RUNS,
  );
});

test("oneLine returns one line, and keeps ordinary text", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(oneLine(text)).not.toMatch(/[\n\t\r]/);
      expect(oneLine(oneLine(text))).toBe(oneLine(text));
      expect(lines(text)).not.toMatch(ACTIVE);
    }),
    RUNS,
  );
  for (const text of ["Fix the login", "日本語 — ünïcode", "👩‍👩‍👧 family", "हिन्दी", "می‌خواهم"])
    expect(oneLine(text)).toBe(text);
  expect(oneLine("a\x1b[31m\u202eb\n")).toBe("a\\x1b[31m\\u202eb\\n");
  expect(oneLine("\u2065\ufff0\ufff8")).toBe("\\u2065\\ufff0\\ufff8");
});

test("a shell reads a quoted word unchanged", async () => {
  const words = ["main", "a b", "it's", "$(id)", "`id`", "a;b", "*", "~", "-x", "日本"];
  const shell = Bun.spawn(["sh", "-c", `printf '%s\\n' ${words.map(shellWord).join(" ")}`], {
    stdout: "pipe",
  });
  expect(await new Response(shell.stdout).text()).toBe(`${words.join("\n")}\n`);
});

test("a failing jq expression does not set the exit status", async () => {
  await expect(runJq("{}", '"x" | error', false)).rejects.toThrow();
  expect(process.exitCode ?? 0).toBe(0);
});
