import type { FlagsOf } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";

export interface Question {
  /** The flag of `self-host configure` with the same answer. */
  flag: keyof FlagsOf<(typeof table.configure)["flags"]>;
  setting: string;
  label: string;
  secret?: true;
  choices?: readonly string[];
  /** Asked only once the setting with this name has a value. */
  after?: string;
}

/** What the wizard asks, in this order. */
export const QUESTIONS: readonly Question[] = [
  { flag: "listen", setting: "SVC_HOST", label: "Address to listen on (127.0.0.1: only this machine)" },
  { flag: "public-url", setting: "SVC_PUBLIC_URL", label: "URL at which browsers reach the server" },
  {
    flag: "preview-host",
    setting: "SVC_PREVIEW_HOST",
    label: "Parent host of previews (needs a wildcard in DNS)",
  },
  {
    flag: "tls",
    setting: "SVC_SELF_HOST_TLS",
    label: "TLS: caddy runs Caddy in front of the server in Docker (none: a proxy of your own)",
    after: "SVC_PUBLIC_URL",
  },
  {
    flag: "sign-up",
    setting: "SVC_SIGN_UP",
    label: "Who can create a user",
    choices: ["invited", "open"],
  },
  {
    flag: "git-hosts",
    setting: "SVC_GIT_HOSTS",
    label: "Your own git hosts, such as git.example.com=gitlab",
  },
  {
    flag: "github-client-id",
    setting: "SVC_GITHUB_CLIENT_ID",
    label: "OAuth app for sign-in with GitHub: client id",
  },
  {
    flag: "github-client-secret",
    setting: "SVC_GITHUB_CLIENT_SECRET",
    label: "OAuth app: client secret",
    secret: true,
    after: "SVC_GITHUB_CLIENT_ID",
  },
  {
    flag: "github-url",
    setting: "SVC_GITHUB_URL",
    label: "URL of GitHub (empty: https://github.com)",
    after: "SVC_GITHUB_CLIENT_ID",
  },
  {
    flag: "model-url",
    setting: "SVC_LLM_BASE_URL",
    label: "Model gateway for every sandbox: URL of its API",
  },
  {
    flag: "model-key",
    setting: "SVC_LLM_API_KEY",
    label: "Model gateway: key",
    secret: true,
    after: "SVC_LLM_BASE_URL",
  },
  {
    flag: "model-name",
    setting: "SVC_LLM_MODEL",
    label: "Model gateway: default model",
    after: "SVC_LLM_BASE_URL",
  },
];
