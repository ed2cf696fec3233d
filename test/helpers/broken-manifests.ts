const hook = (line: string) =>
  `[[triggers]]\nslug = "a"\ntype = "webhook"\nsecret_env = "KEY"\nprompt = "x"\n${line}`;
const cron = (line: string) => `[[triggers]]\nslug = "a"\ntype = "cron"\nprompt = "x"\n${line}`;
const due = (line: string) => cron(`cron = "0 9 * * *"\n${line}`);
const app = (line: string) => `[[apps]]\nslug = "a"\n${line}`;
const served = (line: string) => app(`run = { command = "serve", port = 80 }\n${line}`);
const kept = (n: number, entry: (slug: string) => string) =>
  Array.from({ length: n }, (_, index) => entry(`n${index}`)).join("\n");

/** Below the version in line 1. What can stand below it, and then counts; and its problems, in the order they are told. */
export const BROKEN: readonly (readonly [
  text: string,
  rest: "triggers" | "apps" | "both",
  ...problems: string[],
])[] = [
  // lists
  [
    "triggers = 3",
    "apps",
    "2:12 error: triggers must be a list of tables, each with the header [[triggers]].",
  ],
  ["[triggers]", "apps", "2:2 error: triggers must be a list of tables, each with the header [[triggers]]."],
  [
    '[triggers.a]\nslug = "a"',
    "apps",
    "2:2 error: triggers must be a list of tables, each with the header [[triggers]].",
  ],
  [
    'apps.run.command = "x"',
    "triggers",
    "2:1 error: apps must be a list of tables, each with the header [[apps]].",
  ],
  ['triggers = ["a"]', "apps", "2:13 error: triggers[0] must be a table."],
  [
    'triggers = [{ slug = "a", type = "cron", cron = "* * * * *" }, 1]',
    "apps",
    '2:13 error: triggers[0].prompt is missing: add prompt = "Update the packages".',
    "2:64 error: triggers[1] must be a table.",
  ],
  ["apps = [[]]", "triggers", "2:9 error: apps[0] must be a table."],
  [
    '[[trigger]]\nslug = "a"',
    "both",
    "2:3 warning: trigger is not a known key and is ignored. Did you mean triggers?",
  ],
  ["[[app]]", "both", "2:3 warning: app is not a known key and is ignored. Did you mean apps?"],
  [
    "[[robots]]",
    "both",
    "2:3 warning: robots is not a known key and is ignored. Known: svc_version, project, env, sandbox, network, opencode, change_requests, merge, checks, agents, branches, tags, triggers, apps, connectors.",
  ],
  [
    kept(101, (slug) => `[[triggers]]\nslug = "${slug}"\ntype = "cron"\nprompt = "x"\ncron = "0 9 * * *"`),
    "apps",
    "502:3 error: triggers[100] exceeds the limit: only the first 100 are used.",
  ],
  [
    kept(21, (slug) => `[[apps]]\nslug = "${slug}"\nstatic.dir = "x"`),
    "triggers",
    "62:3 error: apps[20] exceeds the limit: only the first 20 are used.",
  ],
  // triggers
  [
    "[[triggers]]",
    "both",
    '2:3 error: triggers[0].slug is missing: add slug = "nightly".',
    '2:3 error: triggers[0].type is missing: add type = "cron".',
    '2:3 error: triggers[0].prompt is missing: add prompt = "Update the packages".',
  ],
  [
    "  [[ triggers ]] # none",
    "both",
    '2:6 error: triggers[0].slug is missing: add slug = "nightly".',
    '2:6 error: triggers[0].type is missing: add type = "cron".',
    '2:6 error: triggers[0].prompt is missing: add prompt = "Update the packages".',
  ],
  [
    '[[triggers]]\nslug = "A"\ntype = "cron"\nprompt = "x"\ncron = "0 9 * * *"',
    "both",
    "3:8 error: triggers[0].slug must be 1 to 128 characters of a-z, 0-9, - and _, the first a letter or a digit.",
  ],
  [
    '[[triggers]]\nslug = 3\ntype = "cron"\nprompt = "x"\ncron = "0 9 * * *"',
    "both",
    "3:8 error: triggers[0].slug must be 1 to 128 characters of a-z, 0-9, - and _, the first a letter or a digit.",
  ],
  [
    `[[triggers]]\nslug = "${"a".repeat(129)}"\ntype = "cron"\nprompt = "x"\ncron = "0 9 * * *"`,
    "both",
    "3:8 error: triggers[0].slug must be 1 to 128 characters of a-z, 0-9, - and _, the first a letter or a digit.",
  ],
  [
    due('[[triggers]]\nslug = "a"\ntype = "webhook"\nsecret_env = "KEY"\nprompt = "y"'),
    "both",
    '8:8 error: triggers[1].slug is "a" again: slugs must be unique, and only the first is used.',
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "timer"\nprompt = "x"\ncron = "0 9 * * *"',
    "both",
    '4:8 error: triggers[0].type must be "cron" or "webhook".',
  ],
  [cron(""), "both", '2:3 error: triggers[0].cron is missing: add cron = "0 9 * * 1-5".'],
  [
    cron('cron = "0 9 * *"'),
    "both",
    '6:8 error: triggers[0].cron must be five fields (minute hour day month weekday) or six (a second before them), such as "0 9 * * 1-5".',
  ],
  [
    cron('cron = "61 9 * * *"'),
    "both",
    "6:8 error: triggers[0].cron is not a valid schedule: invalid value for minute: 61.",
  ],
  [cron('cron = "0 0 30 2 *"'), "both", "6:8 error: triggers[0].cron names a day that never occurs."],
  [cron("cron = 5"), "both", "6:8 error: triggers[0].cron must be a string."],
  [
    cron('crom = "0 9 * * *"'),
    "both",
    '2:3 error: triggers[0].cron is missing: add cron = "0 9 * * 1-5".',
    "6:1 warning: triggers[0].crom is not a known key and is ignored. Did you mean cron?",
  ],
  [
    due('timezone = "Mars/Olympus"'),
    "both",
    '7:12 error: triggers[0].timezone must be a time zone name, such as "Europe/Berlin".',
  ],
  [
    due('timezone = "+01:00"'),
    "both",
    '7:12 error: triggers[0].timezone must be a time zone name, such as "Europe/Berlin".',
  ],
  [
    due('secret_env = "KEY"'),
    "both",
    '7:1 warning: triggers[0].secret_env has no effect in a trigger of type "cron".',
  ],
  [due("enabled = 1"), "both", "7:11 error: triggers[0].enabled must be true or false."],
  [due('enabled = "true"'), "both", "7:11 error: triggers[0].enabled must be true or false."],
  [due("enabled.on = true"), "both", "7:1 error: triggers[0].enabled must be true or false."],
  [due('name = " "'), "both", "7:8 error: triggers[0].name must be a name of 1 to 128 characters."],
  [
    due('agent = ""'),
    "both",
    "7:9 error: triggers[0].agent must be the name of an agent, of 1 to 128 characters.",
  ],
  [
    due('runtime = "x"'),
    "both",
    "7:1 warning: triggers[0].runtime is not a known key and is ignored. Known: slug, type, prompt, name, agent, model, secrets, enabled, cron, timezone, secret_env.",
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "cron"\ncron = "0 9 * * *"\nprompt = """\nLook\n  at {{ body.x\n"""',
    "both",
    "6:10 error: triggers[0].prompt has a {{ without }} in line 2 of the text.",
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "cron"\ncron = "0 9 * * *"\nprompt = """\n{{ body.x }}{{a}}\n{{ body[0] }}{{}}"""',
    "both",
    '6:10 warning: triggers[0].prompt has "{{ body[0] }}" in line 2 of the text, which is not a {{ dotted.path }} and is left unchanged.',
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "timer"\nprompt = "{{ a b\\u0007 }}"',
    "both",
    '4:8 error: triggers[0].type must be "cron" or "webhook".',
    '5:10 warning: triggers[0].prompt has "{{ a b\\u0007 }}" in line 1 of the text, which is not a {{ dotted.path }} and is left unchanged.',
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "cron"\ncron = "0 9 * * *"\nprompt = "  "',
    "both",
    "6:10 error: triggers[0].prompt must be a text of at most 65536 bytes that is not blank.",
  ],
  [
    `[[triggers]]\nslug = "a"\ntype = "cron"\ncron = "0 9 * * *"\nprompt = "${"é".repeat(32_769)}"`,
    "both",
    "6:10 error: triggers[0].prompt must be a text of at most 65536 bytes that is not blank.",
  ],
  [
    hook('cron = "0 9 * * *"'),
    "both",
    '7:1 warning: triggers[0].cron has no effect in a trigger of type "webhook".',
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "webhook"\nprompt = "x"',
    "both",
    '2:3 error: triggers[0].secret_env is missing: add secret_env = "WEBHOOK_SECRET".',
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "webhook"\nprompt = "x"\nsecret_env = "lower"',
    "both",
    "6:14 error: triggers[0].secret_env must be the name of a secret, of A-Z, 0-9 and _.",
  ],
  [
    '[[triggers]]\nslug = "a"\ntype = "webhook"\nprompt = "x"\nsecret_env = "SVC_TOKEN"',
    "both",
    "6:14 error: triggers[0].secret_env cannot be SVC_TOKEN, which is reserved for svc or the sandbox.",
  ],
  // apps
  [
    app(""),
    "both",
    "2:3 error: apps[0] must have [apps.run] with command and port, or [apps.static] with dir.",
  ],
  [
    app('access = "Public"\nstatic.dir = "x"'),
    "triggers",
    '4:10 error: apps[0].access must be "members" or "public".',
  ],
  [
    served('health = { path = "healthz" }'),
    "both",
    "5:19 error: apps[0].health.path must be a path that starts with /, without spaces and #.",
  ],
  [
    app('static.dir = "x"\nhealth.path = "/"'),
    "both",
    "5:1 error: apps[0].health needs [apps.run]: static files have no health.",
  ],
  [
    served('static = { dir = "x" }'),
    "both",
    "5:1 error: apps[0].static cannot be used with run: an app has only one of them.",
  ],
  [
    '[[apps]]\nslug = "a--b"\nstatic.dir = "x"',
    "both",
    "3:8 error: apps[0].slug must be 1 to 32 characters of a-z, 0-9 and single -, with a letter or a digit at both ends.",
  ],
  [
    '[[apps]]\nslug = "a-"\nstatic.dir = "x"',
    "both",
    "3:8 error: apps[0].slug must be 1 to 32 characters of a-z, 0-9 and single -, with a letter or a digit at both ends.",
  ],
  [
    `[[apps]]\nslug = "${"a".repeat(33)}"\nstatic.dir = "x"`,
    "both",
    "3:8 error: apps[0].slug must be 1 to 32 characters of a-z, 0-9 and single -, with a letter or a digit at both ends.",
  ],
  [
    app('static.dir = "../x"'),
    "both",
    "4:14 error: apps[0].static.dir must be a path in the repository, without .. and without / at the start or end.",
  ],
  [
    app('static.dir = "dist/"'),
    "both",
    "4:14 error: apps[0].static.dir must be a path in the repository, without .. and without / at the start or end.",
  ],
  [app("static = {}"), "both", '4:1 error: apps[0].static.dir is missing: add dir = "dist".'],
  [app('static = "dist"'), "both", "4:10 error: apps[0].static must be a table."],
  [app('[apps.run]\ncommand = "serve"'), "both", "4:7 error: apps[0].run.port is missing: add port = 3000."],
  [
    app("[apps.run]\ncommand = []\nport = 0"),
    "both",
    "5:11 error: apps[0].run.command must be a command: a string of at most 8192 bytes that is not blank.",
    "6:8 error: apps[0].run.port must be a port from 1 to 65535, except 8000 and 4096, which svc uses in a sandbox.",
  ],
  [
    app('run = { command = "serve", port = 8000 }'),
    "both",
    "4:35 error: apps[0].run.port must be a port from 1 to 65535, except 8000 and 4096, which svc uses in a sandbox.",
  ],
  [
    app('run = { command = "serve", port = "80" }'),
    "both",
    "4:35 error: apps[0].run.port must be a port from 1 to 65535, except 8000 and 4096, which svc uses in a sandbox.",
  ],
  [
    served('source.root_path = "/srv"'),
    "both",
    "5:20 error: apps[0].source.root_path must be a path in the repository, without .. and without / at the start or end.",
  ],
  [
    served('source.root = "web"'),
    "both",
    "5:8 warning: apps[0].source.root is not a known key and is ignored. Did you mean root_path?",
  ],
  [
    served("build = {}"),
    "both",
    '5:1 error: apps[0].build.command is missing: add command = "npm ci && npm run build".',
  ],
  [served('build = "npm run build"'), "both", "5:9 error: apps[0].build must be a table."],
  [served('env = ["A=1"]'), "both", "5:7 error: apps[0].env must be a table of names and strings."],
  [
    served("[apps.env]\nPORT_A = 3\nb = 'x'\nPATH = '/bin'\nOK = 'x'"),
    "both",
    "6:10 error: apps[0].env.PORT_A must be a string in quotes, of at most 65536 bytes and without NUL.",
    "7:1 error: apps[0].env.b must have a name of A-Z, 0-9 and _.",
    "8:1 warning: apps[0].env names PATH, which is reserved for svc or the sandbox: it is ignored.",
  ],
  [
    served('env = { NUL = "a\\u0000b" }'),
    "both",
    "5:15 error: apps[0].env.NUL must be a string in quotes, of at most 65536 bytes and without NUL.",
  ],
  [
    served('[[apps]]\nslug = "a"\nstatic.dir = "x"'),
    "both",
    '6:8 error: apps[1].slug is "a" again: slugs must be unique, and only the first is used.',
  ],
  [
    served("ports = [80]"),
    "both",
    "5:1 warning: apps[0].ports is not a known key and is ignored. Known: slug, name, enabled, access, previews, source, build, run, health, static, env.",
  ],
  // tables
  [
    '[env]\nrequired = "KEY"',
    "both",
    '3:12 error: env.required must be a list of names such as ["API_KEY"].',
  ],
  [
    '[env]\nrequired = ["KEY", "lower", 3, "SVC_TOKEN"]',
    "both",
    "3:20 error: env.required[1] must be a name of A-Z, 0-9 and _, in quotes.",
    "3:29 error: env.required[2] must be a name of A-Z, 0-9 and _, in quotes.",
    "3:32 warning: env.required[3] names SVC_TOKEN, which is reserved for svc or the sandbox: it cannot be a secret.",
  ],
  [
    '[env]\noptional = [\n  "A",\n  "b", # no\n]',
    "both",
    "5:3 error: env.optional[1] must be a name of A-Z, 0-9 and _, in quotes.",
  ],
  [
    '[project]\nnmae = "x"',
    "both",
    "3:1 warning: project.nmae is not a known key and is ignored. Did you mean name?",
  ],
  ["[sandbox]\nmemory = '8'", "both", "3:10 error: sandbox.memory must be a number above 0."],
  [
    '[opencode]\nconfig = "x"',
    "both",
    "3:1 warning: opencode.config is not a known key and is ignored. Did you mean config_dir?",
  ],
  [
    "svc_versoin = 1",
    "both",
    "2:1 warning: svc_versoin is not a known key and is ignored. Did you mean svc_version?",
  ],
];
