import { Component, type ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/notice.tsx";

/** Stands for a page whose code failed or could not be loaded, as after an update of the server. */
export class Crashed extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
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
            This page failed to show. If the server was just updated, loading it again helps.
          </p>
          <Button onClick={() => window.location.reload()}>Load the page again</Button>
        </Notice>
      </main>
    );
  }
}
