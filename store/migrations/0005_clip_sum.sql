-- +goose Up

-- SHA-256 of media. NULL where there is no media, and for clips of earlier formats
-- until their media has been read and found to be a clip; 32 zero bytes if it was not.
ALTER TABLE clip ADD COLUMN media_sum BLOB CHECK (length(media_sum) = 32);
