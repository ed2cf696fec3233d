import type { Command, Group } from "./spec.ts";
import { account } from "./table/account.ts";
import { accounts } from "./table/accounts.ts";
import { alias } from "./table/alias.ts";
import { apps } from "./table/apps.ts";
import { audit } from "./table/audit.ts";
import { browse } from "./table/browse.ts";
import { channels } from "./table/channels.ts";
import { checks } from "./table/checks.ts";
import { connectors } from "./table/connectors.ts";
import { cr } from "./table/cr.ts";
import { trying } from "./table/demo.ts";
import { hosts } from "./table/hosts.ts";
import { initializing } from "./table/init.ts";
import { installing } from "./table/install.ts";
import { labels } from "./table/labels.ts";
import { members } from "./table/members.ts";
import { models } from "./table/models.ts";
import { network } from "./table/network.ts";
import { notifications } from "./table/notifications.ts";
import { projects } from "./table/projects.ts";
import { repo } from "./table/repo.ts";
import { search } from "./table/search.ts";
import { env, secrets } from "./table/secrets.ts";
import { selfHost } from "./table/self-host.ts";
import { sessions } from "./table/sessions.ts";
import { shipping } from "./table/ship.ts";
import { signIns } from "./table/sign-ins.ts";
import { signingKeys } from "./table/signing-keys.ts";
import { status } from "./table/status.ts";
import { tokens } from "./table/tokens.ts";
import { tools } from "./table/tools.ts";
import { triggers } from "./table/triggers.ts";
import { usage } from "./table/usage.ts";
import { webhooks } from "./table/webhooks.ts";

/** Every command of `svc`, for the parser, help, completion and docs/cli.md. */
export const TABLE: readonly (Group | Command)[] = [
  sessions,
  cr,
  checks,
  labels,
  apps,
  repo,
  secrets,
  env,
  triggers,
  webhooks,
  channels,
  connectors,
  network,
  models,
  usage,
  notifications,
  signingKeys,
  tokens,
  signIns,
  accounts,
  members,
  audit,
  projects,
  hosts,
  alias,
  selfHost,
  ...initializing,
  ...trying,
  ...shipping,
  status,
  browse,
  search,
  ...account,
  ...installing,
  ...tools,
];
