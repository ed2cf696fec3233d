CREATE TYPE "public"."prompt_state" AS ENUM('queued', 'running', 'answered', 'failed', 'aborted', 'interrupted');--> statement-breakpoint
CREATE TABLE "session_prompts" (
	"session_id" text NOT NULL,
	"prompt_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"text" text NOT NULL,
	"state" "prompt_state" DEFAULT 'queued' NOT NULL,
	"error" text,
	"generation" integer,
	"created_by" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "session_prompts_session_id_prompt_id_pk" PRIMARY KEY("session_id","prompt_id"),
	CONSTRAINT "session_prompts_number" UNIQUE("session_id","number")
);
--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "prompt_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "session_prompts" ADD CONSTRAINT "session_prompts_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session_prompts" ADD CONSTRAINT "session_prompts_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "session_prompts_open" ON "session_prompts" USING btree ("session_id") WHERE "session_prompts"."ended_at" is null;