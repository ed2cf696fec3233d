/** The groups of operations, in the order of the documentation. */
export const TAGS = [
  { name: "server", description: "The server itself" },
  { name: "auth", description: "Signing in and out, and the identity of a token" },
  { name: "accounts", description: "Users, accounts, members, invitations and user tokens" },
  { name: "notifications", description: "What the caller is notified of, and how" },
  { name: "projects", description: "Projects, their settings, tokens, manifest and events" },
  { name: "secrets", description: "Secrets, whose values only sandboxes receive" },
  { name: "repository", description: "Reading a project's repository" },
  { name: "git", description: "Git's smart HTTP protocol, and what a starting sandbox needs" },
  { name: "sessions", description: "Sessions: conversations with an agent, each in a sandbox" },
  { name: "models", description: "The model gateway, and what its calls have used" },
  { name: "change requests", description: "Proposing, reviewing and merging changes" },
  { name: "checks", description: "Results of CI for commits" },
  {
    name: "apps",
    description: "Apps that are deployed from the default branch, and their previews in change requests",
  },
  { name: "triggers", description: "Schedules and webhooks that start sessions" },
  { name: "webhooks", description: "URLs that the events of a project are sent to" },
  { name: "channels", description: "Chat workspaces in which people work with agents" },
  { name: "connectors", description: "Services whose tools agents can call, and the calls" },
  { name: "mcp", description: "Tools for agents, by the Model Context Protocol" },
];
