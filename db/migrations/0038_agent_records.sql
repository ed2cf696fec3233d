CREATE TABLE "agent_records" (
	"session_id" text PRIMARY KEY NOT NULL,
	"runtime" text NOT NULL,
	"turn_id" text NOT NULL,
	"workspace" text NOT NULL,
	"record" text NOT NULL,
	"saved_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agent_records" ADD CONSTRAINT "agent_records_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;