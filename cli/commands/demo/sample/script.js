// No model is used in this project: this plugin of the agent runtime answers in place of one. It follows a script.
// The first prompt of a conversation adds a greeting to the page. A prompt with review comments changes the heading to
// the words that a comment has in double quotes. It needs no network and no key.

const PAGE = "site/index.html";
const GREETING = "site/greeting.js";
const HEADING = "Hello from an agent";
const DONE = "demo: done";

export const Script = async () => ({
  config: async (config) => {
    config.provider = {
      ...config.provider,
      demo: {
        npm: "@ai-sdk/openai-compatible",
        name: "svc demo",
        // the address is never used: `fetch` answers
        options: { baseURL: "http://script.invalid/v1", apiKey: "none", fetch: answer },
        models: { script: { name: "A script, no model", tool_call: true } },
      },
    };
  },
});

async function answer(_url, { body }) {
  const request = JSON.parse(body);
  // requests without tools are for a title
  return respond(request, Array.isArray(request.tools) ? turn(request.messages) : { say: "svc demo" });
}

/** What comes next: `say` a text, and `call` a tool. */
function turn(messages) {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const asked = textOf(messages[at]);
  const results = messages.slice(at + 1).filter(({ role }) => role === "tool");
  const isFirst = messages.findIndex(({ role }) => role === "user") === at;
  const steps = asked.startsWith("Reviewers commented") ? review(asked) : isFirst ? task() : null;
  if (steps === null) return { say: NOTHING_ELSE };
  const step = steps[results.length];
  return step?.(textOf(results.at(-1))) ?? { say: "The script has come to its end." };
}

const NOTHING_ELSE =
  "No model is used here: I follow a script, and it has no answer to this. It continues when you send review comments.";

function task() {
  return [
    () => ({
      say: "No model is used here: I follow a script, .svc/agentrt/plugins/script.js. First I read the page.",
      call: ["read", { filePath: PAGE }],
    }),
    () => ({
      say: "A greeting by the time of day needs a few lines of JavaScript.",
      call: ["write", { filePath: GREETING, content: GREETING_CODE }],
    }),
    () => ({
      call: [
        "edit",
        {
          filePath: PAGE,
          oldString: "</h1>",
          newString: '</h1>\n      <p id="greeting"></p>\n      <script src="greeting.js"></script>',
        },
      ],
    }),
    () => ({
      say: "Now I commit, push, and open a change request.",
      call: shell(
        "Open a change request",
        'git add site && git commit -qm "Greet visitors by the time of day"',
        "git push -q origin HEAD",
        `svc cr open --title "Greet visitors by the time of day" --description "${DESCRIPTION}"`,
      ),
    }),
    (output) => ({
      say: output.includes(DONE)
        ? "The change request is open. Review it; I answer one comment, and never merge."
        : failed(output),
    }),
  ];
}

const DESCRIPTION =
  "The page greets with good morning, good afternoon or good evening. No model wrote this: the agent of the demo follows a script.";

const GREETING_CODE = `const hour = new Date().getHours();
const part = hour < 5 ? "night" : hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening";
document.querySelector("#greeting").textContent = \`Good \${part}!\`;
`;

function review(asked) {
  const threads = readThreads(asked);
  const number = /svc cr comment (\d+) --reply-to/.exec(asked)?.[1];
  const words = threads.map(({ comment }) => /["“]([^"“”]{1,60})["”]/.exec(comment)?.[1]);
  const heading = words.findLast(Boolean) ?? HEADING;
  return [
    () => ({
      say: `I follow a script, so I understand one thing: the heading is to say "${heading}".`,
      call: ["read", { filePath: PAGE }],
    }),
    (page) => ({
      call: [
        "edit",
        {
          filePath: PAGE,
          oldString: /<h1>.*<\/h1>/.exec(page)?.[0] ?? "<h1>",
          newString: `<h1>${escapeHtml(heading)}</h1>`,
        },
      ],
    }),
    () => ({
      say: "I commit, push, and reply.",
      call: shell(
        "Push the change and reply",
        'git add site && { git diff --cached --quiet || git commit -qm "Change the heading"; }',
        "git push -q origin HEAD",
        ...threads.map(({ id }) => `svc cr comment ${number} --reply-to ${id} "${REPLY}"`),
      ),
    }),
    (output) => ({
      say: output.includes(DONE) ? "The heading is changed, and the comment is answered." : failed(output),
    }),
  ];
}

const REPLY = "The heading is changed and pushed. (A script wrote this reply.)";

/** A thread begins with its id; what people wrote is quoted twice. Only the id gets into a shell, and only if it is one. */
function readThreads(asked) {
  const threads = [];
  for (const line of asked.split("\n")) {
    const [, id] = /^> Comment ([0-9a-f-]{36})(?= on |$)/.exec(line) ?? [];
    const last = threads.at(-1);
    if (id) threads.push({ id, authors: 0, comment: "" });
    else if (last && /^> [^>].*:$/.test(line)) last.authors++;
    else if (last?.authors === 1 && line.startsWith("> > ")) last.comment += `${line.slice(4)}\n`;
  }
  return threads;
}

function shell(description, ...commands) {
  return ["bash", { description, command: [...commands, `echo "${DONE}"`].join(" &&\n") }];
}

function failed(output) {
  return `A command of the script failed, so I stop here:\n\n${output.slice(-2000)}`;
}

function escapeHtml(text) {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function textOf(message) {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n");
}

/** As OpenAI's chat completions do, streamed or not. */
function respond({ stream, model }, { say, call }) {
  const message = { role: "assistant", content: say ?? null };
  if (call) {
    const [name, input] = call;
    const id = `call_${crypto.randomUUID()}`;
    message.tool_calls = [
      { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } },
    ];
  }
  const finish_reason = call ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const head = { id: crypto.randomUUID(), created: Math.floor(Date.now() / 1000), model };
  if (!stream) return Response.json({ ...head, choices: [{ index: 0, message, finish_reason }], usage });
  const events = [
    { ...head, choices: [{ index: 0, delta: message, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }], usage },
  ];
  const lines = [...events.map((event) => JSON.stringify(event)), "[DONE]"];
  return new Response(lines.map((line) => `data: ${line}\n\n`).join(""), {
    headers: { "Content-Type": "text/event-stream" },
  });
}
