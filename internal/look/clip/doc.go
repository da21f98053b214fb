// Package clip turns the scenes or the pictures of a clip into the bytes that a page's
// player reads, and back.
//
// The bytes are "TBC1" and a raw DEFLATE stream of
//
//	length of the header, uint32 little-endian
//	header, JSON (Header)
//	numbers
//
// The numbers say where points are in every frame: point 0 is the centre of the
// camera, the others are the points of the moving shapes, each once although
// several shapes may use it. A coordinate is number·Unit; a point has two of
// them, or three in a solid scene. World y points up in a flat scene, z in a
// solid one.
//
// In version 2, which Encode writes, a coordinate is a column over the frames;
// the columns of point 0 come first. Each number is predicted to go on as it went
// before: the first is predicted as 0, the second as the first, and later ones
// as 2a−b, where a came last and b before it. What is written is the difference
// to the prediction, as a zigzag varint (encoding/binary).
//
// In version 1, which Decode still reads, a scene is flat, no points are shared,
// there is a row for each frame, and each row is the difference to the row
// before it, modulo 2^16, as int16 little-endian.
//
// A clip of pictures, version 3, is "TBF1" and, not deflated,
//
//	length of the header, uint32 little-endian
//	header, JSON (Header)
//	files of pictures, PNG or JPEG, one behind the other
//
// Header.Pictures says what each file is, Header.Show which of them each frame shows. Header.Look
// has coarse looks at a few of them, by which package measure measures the clip without decoding
// files; clips that were encoded before there were looks have none. Header.Seen is the part of the pictures in which there is
// something to see, for players that enlarge it.
// A frame is shown until the next one begins: nothing lies between two.
//
// A clip of video, version 4, is the same, with files of videos behind the pictures: the same frames in several encodings
// (Header.Videos), in which all cameras (Header.Cameras) are beside each other, so that they play in step. Its pictures
// are some stills. They are shown by browsers that play none of the videos, and used where clips are drawn or measured without a
// decoder of videos. ForBrowser returns the part that one browser needs.
package clip
