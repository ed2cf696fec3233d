import { expect, test } from "bun:test";
import { loginTokens, secretTexts } from "../../src/contract/codex-login.ts";
import { createRedact } from "../../src/features/sessions/conversation/redact.ts";

const token = (name: string) => `${name}.`.padEnd(80, name);
const LOGIN = {
  auth_mode: "chatgpt",
  OPENAI_API_KEY: null,
  tokens: { id_token: token("id"), access_token: token("access"), refresh_token: token("refresh") },
  last_refresh: "2026-11-01T00:00:00Z",
};

test("a login of Codex is known by each of its tokens", () => {
  const text = JSON.stringify(LOGIN);
  const tokens = Object.values(LOGIN.tokens);
  expect(loginTokens(text).toSorted()).toEqual(tokens.toSorted());
  expect(secretTexts("CODEX_AUTH_JSON", text).toSorted()).toEqual([text, ...tokens].toSorted());
  // another secret of the same form only as a whole
  expect(secretTexts("OTHER", text)).toEqual([text]);
});

test("a conversation shows none of them, however the file is printed", () => {
  const redact = createRedact({ CODEX_AUTH_JSON: JSON.stringify(LOGIN) });
  const shown = redact(`${JSON.stringify(LOGIN)}\n${JSON.stringify(LOGIN, null, 2)}\n${token("refresh")}`);
  for (const each of Object.values(LOGIN.tokens)) expect(shown).not.toContain(each);
  expect(shown).toContain('"refresh_token": "[secret CODEX_AUTH_JSON]"');
  expect(shown).toContain('"auth_mode": "chatgpt"');
});

test.each(["", "null", "12", '"x"', "{", "[".repeat(60_000), `${"[".repeat(30_000)}${"]".repeat(30_000)}`])(
  "a value that is no login has no tokens (%#)",
  (text) => expect(loginTokens(text)).toEqual([]),
);
