import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AcpSandbox, startAcpSandbox, textOf } from "../helpers/acp-sandbox.ts";
import { until } from "../helpers/until.ts";

let acp: AcpSandbox;
beforeAll(async () => {
  acp = await startAcpSandbox();
});
afterAll(() => acp?.[Symbol.asyncDispose]());

const COLOR = {
  type: "string",
  title: "Color",
  oneOf: [
    { const: "r", title: "Red", description: "warm" },
    { const: "b", title: "Blue" },
  ],
};
const WORDS = { type: "string", title: "Other" };
const form = (properties: object) => `!form ${JSON.stringify({ type: "object", properties })}`;

interface Asked {
  id: string;
  tool: { messageID: string; callID: string };
  questions: object[];
}

async function asked(prompt: string): Promise<Asked> {
  await acp.begin(prompt);
  let found: Asked | undefined;
  await until("it asks", async () => {
    [found] = await (await acp.sandbox.call("GET", "/question")).json();
    return found !== undefined;
  });
  if (!found) throw new Error("nothing was asked");
  return found;
}

const heard = async (): Promise<unknown> => {
  await until("it is over", async () => (await acp.answer()).info.time.completed !== undefined);
  return JSON.parse(textOf(await acp.answer()));
};

test("a form with one field is a question, in the conversation too, and the agent gets the value of the label", async () => {
  const { id, tool, questions } = await asked(form({ color: COLOR, color_custom: WORDS }));
  expect(questions).toEqual([
    {
      question: "Which one?",
      options: [
        { label: "Red", description: "warm" },
        { label: "Blue", description: "" },
      ],
      multiple: false,
      custom: true,
    },
  ]);
  const answer = await acp.answer();
  expect(answer.info.id).toBe(tool.messageID);
  expect(answer.parts[0]).toMatchObject({
    tool: "question",
    callID: tool.callID,
    state: { status: "running" },
  });
  expect(await acp.json("POST", `/question/${id}/reply`, { answers: [["Blue"]] })).toBe(true);
  expect(await heard()).toEqual({ action: "accept", content: { color: "b" } });
  expect((await acp.answer()).parts[0]).toMatchObject({
    state: { status: "completed", input: { questions }, metadata: { answers: [["Blue"]] } },
  });
  expect(await acp.json("GET", "/question")).toEqual([]);
  expect((await acp.sandbox.call("POST", `/question/${id}/reply`, "user", { answers: [] })).status).toBe(404);
});

test.each([
  ["words beside options", { color: COLOR, color_custom: WORDS }, [["Green"]], { color_custom: "Green" }],
  [
    "several options",
    { all: { type: "array", items: { anyOf: COLOR.oneOf } } },
    [["Red", "Blue"]],
    { all: ["r", "b"] },
  ],
  ["plain options", { size: { type: "string", enum: ["S", "M"] } }, [["M"]], { size: "M" }],
  ["words", { name: { type: "string" } }, [["Ada"]], { name: "Ada" }],
  ["a number", { count: { type: "integer" } }, [["12"]], { count: 12 }],
  ["yes or no", { sure: { type: "boolean" } }, [["No"]], { sure: false }],
  ["two fields, one left out", { color: COLOR, name: WORDS }, [[], ["Ada"]], { name: "Ada" }],
  ["an unknown label", { color: COLOR }, [["Green"]], {}],
])("the content of a form: %s", async (_, properties, answers, content) => {
  const { id } = await asked(form(properties));
  await acp.json("POST", `/question/${id}/reply`, { answers });
  expect(await heard()).toEqual({ action: "accept", content });
});

test.each([
  [[["Accept"]], { action: "accept", content: {} }],
  [[["Decline"]], { action: "decline" }],
])("a form without fields asks for a confirmation: %j", async (answers, response) => {
  const { id, questions } = await asked(form({}));
  expect(questions).toMatchObject([{ question: "Which one?", custom: false }]);
  await acp.json("POST", `/question/${id}/reply`, { answers });
  expect(await heard()).toEqual(response);
});

describe("a question that is not answered", () => {
  test("is declined when a person rejects it", async () => {
    const { id } = await asked(form({ color: COLOR }));
    expect(await acp.json("POST", `/question/${id}/reject`, {})).toBe(true);
    expect(await heard()).toEqual({ action: "decline" });
    expect((await acp.answer()).parts[0]?.state).toMatchObject({ status: "error" });
  });

  test("ends with its run", async () => {
    await asked(form({ color: COLOR }));
    expect(await acp.json("POST", `/session/${await acp.conversation()}/abort`, {})).toBe(true);
    await until("it is over", async () => JSON.stringify(await acp.json("GET", "/session/status")) === "{}");
    expect(await acp.json("GET", "/question")).toEqual([]);
    expect((await acp.answer()).info.error?.name).toBe("MessageAbortedError");
  });
});
