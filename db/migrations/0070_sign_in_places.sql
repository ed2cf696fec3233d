ALTER TABLE "browser_sessions" ADD COLUMN "sign_in_id" uuid DEFAULT gen_random_uuid() NOT NULL;--> statement-breakpoint
ALTER TABLE "browser_sessions" ADD COLUMN "user_agent" text;--> statement-breakpoint
ALTER TABLE "browser_sessions" ADD COLUMN "address" text;--> statement-breakpoint
ALTER TABLE "browser_sessions" ADD CONSTRAINT "browser_sessions_sign_in_id_unique" UNIQUE("sign_in_id");