-- +goose Up

-- What was done to a session, without its answers, which are most of the rows.
CREATE INDEX audit_acts ON audit (session_id) WHERE action NOT IN ('answer', 'withdraw');
