import { Component, type ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/notice.tsx";

/** Shows an error if the code of a page fails or cannot be loaded, for example after an update of the server. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <main className="mx-auto max-w-xl p-6">
        <Notice kind="error">
          <p className="mb-3">
            This page cannot be displayed. If the server was just updated, reload the page.
          </p>
          <Button onClick={() => window.location.reload()}>Reload the page</Button>
        </Notice>
      </main>
    );
  }
}
