ALTER TABLE "project_sessions" ADD COLUMN "prompt_title" text;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "agent_title" text;