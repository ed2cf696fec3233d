ALTER TYPE "public"."part_kind" ADD VALUE 'file';--> statement-breakpoint
CREATE TABLE "prompt_attachments" (
	"session_id" text NOT NULL,
	"prompt_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"data" text NOT NULL,
	CONSTRAINT "prompt_attachments_session_id_prompt_id_position_pk" PRIMARY KEY("session_id","prompt_id","position")
);
--> statement-breakpoint
ALTER TABLE "conversation_parts" ADD COLUMN "file" jsonb;--> statement-breakpoint
ALTER TABLE "session_prompts" ADD COLUMN "attachments" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "prompt_title" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "agent_title" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "tries_id" uuid;--> statement-breakpoint
ALTER TABLE "prompt_attachments" ADD CONSTRAINT "prompt_attachments_prompt" FOREIGN KEY ("session_id","prompt_id") REFERENCES "public"."session_prompts"("session_id","prompt_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "project_sessions_tries_id" ON "project_sessions" USING btree ("tries_id") WHERE "project_sessions"."tries_id" is not null;