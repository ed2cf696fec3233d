CREATE TYPE "public"."connector_ask_state" AS ENUM('pending', 'approved', 'denied', 'used', 'expired');--> statement-breakpoint
CREATE TYPE "public"."connector_outcome" AS ENUM('running', 'ok', 'failed', 'denied', 'interrupted');--> statement-breakpoint
CREATE TYPE "public"."connector_type" AS ENUM('mcp', 'openapi', 'http');--> statement-breakpoint
CREATE TYPE "public"."policy_action" AS ENUM('allow', 'ask', 'deny');--> statement-breakpoint
ALTER TYPE "public"."event_type" ADD VALUE 'connector';--> statement-breakpoint
ALTER TYPE "public"."event_type" ADD VALUE 'connector_ask';--> statement-breakpoint
CREATE TABLE "connector_asks" (
	"ask_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid NOT NULL,
	"session_id" text,
	"user_id" uuid,
	"actor" jsonb,
	"connector" text NOT NULL,
	"tool" text NOT NULL,
	"arguments" text NOT NULL,
	"digest" text NOT NULL,
	"state" "connector_ask_state" DEFAULT 'pending' NOT NULL,
	"answered_by" uuid,
	"message" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "connector_calls" (
	"call_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"seq" bigserial NOT NULL,
	"project_id" uuid NOT NULL,
	"connector" text NOT NULL,
	"tool" text NOT NULL,
	"action" "policy_action" NOT NULL,
	"outcome" "connector_outcome" NOT NULL,
	"error" text,
	"user_id" uuid,
	"actor" jsonb,
	"duration_ms" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "connector_secrets" (
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "connector_secrets_project_id_name_pk" PRIMARY KEY("project_id","name")
);
--> statement-breakpoint
CREATE TABLE "connectors" (
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"position" integer NOT NULL,
	"type" "connector_type" NOT NULL,
	"url" text,
	"spec" text,
	"auth" text,
	"auth_header" text,
	"policies" json NOT NULL,
	"commit" text NOT NULL,
	CONSTRAINT "connectors_project_id_slug_pk" PRIMARY KEY("project_id","slug")
);
--> statement-breakpoint
ALTER TABLE "connector_asks" ADD CONSTRAINT "connector_asks_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connector_asks" ADD CONSTRAINT "connector_asks_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connector_asks" ADD CONSTRAINT "connector_asks_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connector_asks" ADD CONSTRAINT "connector_asks_answered_by_users_user_id_fk" FOREIGN KEY ("answered_by") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connector_calls" ADD CONSTRAINT "connector_calls_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connector_calls" ADD CONSTRAINT "connector_calls_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connector_secrets" ADD CONSTRAINT "connector_secrets_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "connectors" ADD CONSTRAINT "connectors_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "connector_asks_project_id" ON "connector_asks" USING btree ("project_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "connector_asks_digest" ON "connector_asks" USING btree ("digest") WHERE "connector_asks"."state" in ('pending', 'approved');--> statement-breakpoint
CREATE INDEX "connector_calls_project_id_seq" ON "connector_calls" USING btree ("project_id","seq");