/**
 * Manifests as people lay out TOML elsewhere, each with the trigger `nightly`. `<<a|b>>` is what turning it from on to off
 * (or, where the name says so, from off to on) makes another: a before, b after.
 */
export const LAYOUTS: Readonly<Record<string, string>> = {
  "plain, as svc itself would write it": `svc_version = 1

[project]
name = "shop"

[[triggers]]
slug = "nightly"
type = "cron"
prompt = "Update the packages."
cron = "0 3 * * *"
enabled = <<true|false>>
`,
  "from off to on": `[[triggers]]\nslug = "nightly"\ntype = "cron"\nprompt = "x"\ncron = "0 3 * * *"\nenabled = <<false|true>> # for now\n`,
  "a crate's: aligned signs, inline tables": String.raw`[project]
name        = "shop"
description = 'a \ b'

[sandbox]
cpu    = 2
memory = 8

[[triggers]]
slug       = "nightly"
<<|enabled    = false
>>type       = "cron"
prompt     = "x"
cron       = "0 3 * * *"
timezone   = "UTC"
`,
  "a packager's: lists over lines, with comments within": `[env]
required = [
    "KEY",  # enabled = true
    "OTHER",
    # "OLD",
]

[change_requests]
agent_merge=false

[[triggers]] # nightly
type="cron"
slug="nightly" # slug = "other"
<<|enabled=false
>>cron="0 3 * * *"
prompt="x"
[[triggers]]
slug="other"
type="cron"
cron="0 4 * * *"
prompt="x"
enabled=true
`,
  "a site's: tables indented, blank lines": `svc_version = 1


[[apps]]
  slug = "web"

  [apps.static]
    dir = "public"

[[triggers]]
  slug = "first"
  type = "cron"
  prompt = "x"
  cron = "0 1 * * *"
  enabled = true

[[triggers]]
  slug = "nightly"
<<|  enabled = false
>>  type = "cron"
  prompt = "x"
  cron = "0 3 * * *"


`,
  "a collector's: banners, and whole sections commented out": `###############################################################################
#                                  TRIGGERS                                   #
###############################################################################

# # Every night
# [[triggers]]
#   slug = "nightly"
#   enabled = true

[[triggers]]
  ## What it is called
  slug = "nightly"
<<|  enabled = false
>>  ## When
  # cron = "0 1 * * *"
  cron = "0 3 * * *"
  type = "cron"
  prompt = "x"
  # enabled = true

###############################################################################
#                                    APPS                                     #
###############################################################################
`,
  "a scanner's: strings in three quotes with brackets in them": String.raw`[[triggers]]
slug = '''nightly'''
type = "cron"
prompt = '''(?i)enabled = true
[[triggers]]
slug = "nightly"
enabled = true
["'\\].*?'''
cron = '''0 3 * * *'''
enabled = <<true|false>>
`,
  "a changelog writer's: a template with look-alikes and escaped ends": String.raw`[[triggers]]
slug = "nightly"
<<|enabled = false
>>type = "cron"
cron = "0 3 * * *"
prompt = """
# {{ trigger.slug }}\
    enabled = true # \"""
  slug = "nightly"
""""
`,
  "Windows: CR LF": `svc_version = 1\r\n\r\n[[triggers]]\r\nslug = "nightly"\r\n<<|enabled = false\r\n>>type = "cron"\r\nprompt = """\r\na\r\n"""\r\ncron = "0 3 * * *"\r\n`,
  "Windows: CR LF and a byte order mark": `\ufeff[[triggers]]\r\nslug = "nightly"\r\ntype = "cron"\r\nprompt = "x"\r\ncron = "0 3 * * *"\r\nenabled = <<true|false>>\r\n`,
  "line ends of both kinds": `svc_version = 1\r\n[[triggers]]\ntype = "cron"\r\nprompt = "x"\ncron = "0 3 * * *"\r\nslug = "nightly"\n<<|enabled = false\n>>[[apps]]\r\nslug = "a"\r\nstatic.dir = "x"\r\n`,
  "no line end at the end": `[[triggers]]\ntype = "cron"\nprompt = "x"\ncron = "0 3 * * *"\nslug = "nightly"<<|\nenabled = false>>`,
  "no line end at the end, CR LF": `[[triggers]]\r\ntype = "cron"\r\nprompt = "x"\r\ncron = "0 3 * * *"\r\nslug = "nightly" # last<<|\r\nenabled = false>>`,
  "no line end after the value itself": `[[triggers]]\ntype = "cron"\nprompt = "x"\ncron = "0 3 * * *"\nslug = "nightly"\nenabled = <<true|false>>`,
  "tabs, and blanks at the ends of lines": `[[triggers]]\t\n\tslug\t=\t"nightly"\t \n<<|\tenabled\t=\tfalse\n>>\ttype\t=\t"cron"  \n\tprompt\t=\t"x"\n\tcron\t=\t"0 3 * * *"\n`,
  "inline tables in one line": `triggers = [{ slug = "other", type = "cron", prompt = "x", cron = "0 1 * * *", enabled = true }, { slug = "nightly", type = "cron", prompt = "{ enabled = true }", cron = "0 3 * * *", enabled = <<true|false>> }]\n`,
  "inline tables without the key": `triggers = [\n  {slug = "nightly"<<|, enabled = false>>, type = "cron", prompt = "x", cron = "0 3 * * *"}, # nightly\n]\n`,
  "inline tables over lines": `triggers = [\n  {\n    type = "cron", # enabled = true\n    slug = "nightly"<<|, enabled = false>>, # the last\n    prompt = "x", cron = "0 3 * * *",\n  },\n]\nsvc_version = 1\n`,
  "quoted keys, and keys with escapes":
    String.raw`[ "trigger\u0073" ]`.replace("[", "[[").replace("]", "]]") +
    String.raw`
"slug" = "night\u006cy"
'type' = 'cron'
"prompt" = "x"
cron = "0 3 * * *"
"en\u0061bled" = <<true|false>>
`,
  "dotted keys and tables that come between": `project.name = "shop"
sandbox.cpu = 1
sandbox . "memory" = 2

[[triggers]]
slug = "other"
type = "webhook"
secret_env = "KEY"
prompt = "x"

[opencode]
config_dir = ".svc/agentrt"

[[triggers]]
prompt = "x"
type = "cron"
cron = "0 3 * * *"
"slug"   = "nightly"
<<|enabled  = false
>>
[change_requests]
required_approvals = 1
`,
  "a file with mistakes elsewhere": `svc_version = 2
typo = true
[[triggers]]
slug = "nightly"
type = "cron"
prompt = "x"
enabled = "yes"
[[triggers]]
slug = "nightly"
<<|enabled = false
>>type = "cron"
prompt = "x"
cron = "0 3 * * *"
[[triggers]]
slug = "nightly"
type = "cron"
prompt = "the third"
cron = "0 3 * * *"
enabled = true
`,
  "words of other scripts around it": `[project]\nname = "Пример 例え 🛍"\n[[triggers]]\nname = "毎晩 🌙"\nslug = "nightly" # ночью\n<<|enabled = false\n>>type = "cron"\nprompt = "é e\u0301 \\U0001F600"\ncron = "0 3 * * *"\n`,
};
