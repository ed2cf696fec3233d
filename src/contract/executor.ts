/** The MCP endpoint, below the API's `/v1` (contract: Models, connectors, channels). */
export const EXECUTOR_PATH = "/executor/mcp";
