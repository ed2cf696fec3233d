import "./style.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { whenSignedOut } from "./api/call.ts";
import { ApiFailure } from "./api/failure.ts";
import { SIGNED_IN } from "./api/signed-in.ts";
import { App } from "./app.tsx";
import "./common.ts";
import { applyTheme } from "./parts/theme.ts";

/** Retries of a request that got no answer. An error that the server answered with is not retried. */
const RETRIES = 3;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (tried, error) =>
        tried < RETRIES && error instanceof ApiFailure && [0, 502, 503].includes(error.status),
    },
  },
});
whenSignedOut(() => void queries.invalidateQueries({ queryKey: SIGNED_IN }));
applyTheme();

const root = document.getElementById("root");
if (!root) throw new Error("the element #root is missing");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
