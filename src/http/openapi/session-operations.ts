import type { Operations } from "./operations.ts";

/** Of the sessions of a project. */
export const SESSION_OPERATIONS = {
  "GET /v1/projects/:projectId/sessions": ["listSessions", "List sessions"],
  "POST /v1/projects/:projectId/sessions": ["createSession", "Create a session"],
  "GET /v1/projects/:projectId/sessions/:sessionId": ["getSession", "Get a session"],
  "PATCH /v1/projects/:projectId/sessions/:sessionId": [
    "editSession",
    "Rename a session, or change what its agent works with",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/choices": [
    "getSessionChoices",
    "List what the agent of a session can work with",
  ],
  "GET /v1/projects/:projectId/runtimes": ["listRuntimes", "List the agents that sessions can have"],
  "DELETE /v1/projects/:projectId/sessions/:sessionId": ["deleteSession", "Delete a session"],
  "POST /v1/projects/:projectId/sessions/:sessionId/restart": ["restartSession", "Start a session again"],
  "POST /v1/projects/:projectId/sessions/:sessionId/stop": ["stopSession", "Stop a session"],
  "GET /v1/projects/:projectId/sessions/:sessionId/saved": [
    "getSavedWork",
    "Get the unpushed work that was saved",
  ],
  "POST /v1/projects/:projectId/sessions/:sessionId/abort": ["abortSession", "Abort what the agent is doing"],
  "GET /v1/projects/:projectId/sessions/:sessionId/exec": [
    "listCommands",
    "List the commands that people have run in the sandbox",
  ],
  "POST /v1/projects/:projectId/sessions/:sessionId/exec": ["startCommand", "Run a command in the sandbox"],
  "POST /v1/projects/:projectId/sessions/:sessionId/answer": [
    "answerSession",
    "Answer what the agent of a session waits for",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/network": [
    "getSessionNetwork",
    "List what the sandbox of a session connected to",
  ],
  "POST /v1/projects/:projectId/network/allow": [
    "allowHosts",
    "Open a change request that allows sandboxes to connect to hosts",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/logs": ["getSessionLogs", "Get the log of a session"],
  "GET /v1/projects/:projectId/sessions/:sessionId/ports": [
    "listPorts",
    "List the ports on which programs of the sandbox listen",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/files": [
    "listWorkspaceFiles",
    "List a folder of the workspace of a session",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/contents": [
    "getWorkspaceFile",
    "Get a file of the workspace of a session",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/diff": [
    "getWorkspaceDiff",
    "Get what the workspace of a session changes",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/events": [
    "streamSessionEvents",
    "Stream the events of a session",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/conversation": [
    "getConversation",
    "Get the conversation of a session",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/conversation/parts/:partId": [
    "getConversationPart",
    "Get one part of the conversation of a session, whole",
  ],
  "GET /v1/projects/:projectId/sessions/:sessionId/conversation/events": [
    "streamConversation",
    "Follow the conversation of a session",
  ],
  "POST /v1/projects/:projectId/sessions/:sessionId/prompt": ["sendPrompt", "Send a prompt to the agent"],
  "GET /v1/projects/:projectId/sessions/:sessionId/prompts": ["listPrompts", "List prompts"],
  "GET /v1/projects/:projectId/sessions/:sessionId/prompts/:promptId": ["getPrompt", "Get a prompt"],
  "DELETE /v1/projects/:projectId/sessions/:sessionId/prompts/:promptId": [
    "withdrawPrompt",
    "Withdraw a queued prompt",
  ],
  "POST /v1/projects/:projectId/sessions/:sessionId/preview": [
    "createPreview",
    "Create a link to a port of a sandbox",
  ],
} as const satisfies Operations;
