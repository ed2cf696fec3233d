import "./style.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { whenSignedOut } from "./api/call.ts";
import { ApiFailure } from "./api/failure.ts";
import { SIGNED_IN } from "./api/signed-in.ts";
import { App } from "./app.tsx";
import { applyTheme } from "./parts/theme.ts";

/** What the server said is not asked again; what no answer came to is. */
const TRIES = 3;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (tried, error) =>
        tried < TRIES && error instanceof ApiFailure && [0, 502, 503].includes(error.status),
    },
  },
});
whenSignedOut(() => void queries.invalidateQueries({ queryKey: SIGNED_IN }));
applyTheme();

const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
