package conformance

// The ways in which moto_server goes wrong.
const (
	motoUnchecked = "moto does not check this and accepts the call"
	motoCrashes   = "moto answers some of these with a stack trace and status 500, and accepts others"
	motoCapacity  = "moto's capacity figures are constants that know neither sizes nor indexes"
)

// MotoDynamoDBExceptions name the cases of DynamoDBCases that moto_server is
// known to fail (tried with 5.2.5).
func MotoDynamoDBExceptions() Exceptions {
	return Exceptions{
		"time to live is switched on once and described":                                                            motoUnchecked,
		"a table is refused for its name":                                                                           motoUnchecked,
		"a table is refused for keys and indexes that contradict themselves":                                        motoUnchecked,
		"a put is refused for a set with a member twice":                                                            motoUnchecked,
		"a put is refused for a number too long or too large":                                                       motoUnchecked,
		"a put is refused for levels too deep":                                                                      motoUnchecked,
		"a get is refused for a key of another type":                                                                motoUnchecked,
		"placeholders without an expression are refused":                                                            motoUnchecked,
		"a projection is refused for a path and a part of it":                                                       motoUnchecked,
		"a condition is refused for operands that do not fit":                                                       motoUnchecked,
		"update refused: SET of a map entry within a list":                                                          motoUnchecked,
		"update refused: a sum beyond the range of numbers":                                                         motoUnchecked,
		"update refused: a sum that needs more than 38 digits":                                                      motoUnchecked,
		"update refused: three summands":                                                                            motoUnchecked,
		"a query is refused for keys of another type":                                                               motoUnchecked,
		"a query is refused for a filter on a key":                                                                  motoUnchecked,
		"a query is refused for a start key that is none, or of another partition":                                  motoUnchecked,
		"a query is refused for a projection that the index has not":                                                motoUnchecked,
		"a query is refused for a start key that lacks the index key, or the table's":                               motoUnchecked,
		"an index key of another type is refused, in a put and in an update":                                        motoUnchecked,
		"a batch of writes with one item twice is refused":                                                          motoUnchecked,
		"a batch of 26 writes is refused":                                                                           motoUnchecked,
		"an update without an expression makes an item of its key":                                                  motoCrashes,
		"the condition does not hold: n < :v :v=9(string)":                                                          motoCrashes,
		"the condition does not hold: size(absent) = :v :v=0(int)":                                                  motoCrashes,
		"update: parentheses around a sum":                                                                          motoCrashes,
		"update refused: a name that is not defined":                                                                motoCrashes,
		"projection: m.absent, x.a":                                                                                 motoCrashes,
		"a projection is refused for text that is no list of paths":                                                 motoCrashes,
		"a condition is refused for text that is none":                                                              motoCrashes,
		"a condition is refused for functions in the wrong place or with the wrong operands":                        motoCrashes,
		"a condition is refused for placeholders that are not defined or not used":                                  motoCrashes,
		"a query is refused for operators that keys do not take":                                                    motoCrashes,
		"a write costs a unit for each KB begun of the larger of the old and the new item":                          motoCapacity,
		"an index costs a unit to enter, leave or change, two to move, and nothing when its part stays the same":    motoCapacity,
		"a read costs half a unit for each 4 KB begun, twice that when strong":                                      motoCapacity,
		"a query and a scan add sizes up before they round":                                                         motoCapacity,
		"batches cost what their items cost":                                                                        motoCapacity,
		"transactions cost twice what their items cost":                                                             motoCapacity,
		"sizes count names, texts, two digits to a byte, and three bytes and one for each element of a list or map": motoCapacity,
		"an update returns what was asked for":                                                                      "moto returns whole attributes where UPDATED_OLD and UPDATED_NEW mean the parts that the update names",
		"the condition holds: begins_with(b, :v) :v=[98 121]([]uint8)":                                              "moto compares binaries in their base64 form",
		"update: SET of several places past the end appends in their order":                                         "moto appends them in the order of the expression",
		"update: SET and REMOVE in one list mean the list as it was":                                                "moto removes first and then sets by the new indexes",
		"update: ADD unites sets":                                                                                   "moto compares numbers by their text, so 1 and 1.0 are two members",
		"projection: l[2], l[0]":                                                                                    "moto keeps one element of a list when a projection names two",
		"the largest of everything is stored":                                                                       "moto's limit is lower than 400 KB",
		"a query is refused for an index that is not there":                                                         "moto answers ResourceNotFoundException",
		"Limit counts before the filter, so a page may be empty and not the last":                                   "moto looks ahead and leaves LastEvaluatedKey out when a full page is the last",
		"a page ends at 1 MB, counted before the filter":                                                            "moto ends a page at 1 000 000 bytes",
		"a batch of reads stops at 16 MB and says what is left":                                                     "moto answers more than the service's largest answer",
		"a batch of writes with an item without its key is refused whole":                                           "moto carries out the writes before the one that it refuses",
		"a transaction with a value that does not fit is cancelled and says why":                                    "moto answers the inner ValidationException instead of cancelling",
		"a repeated client token repeats the answer, not the writes":                                                "moto ignores client tokens",
		"a transaction reads several items, present and absent, in order":                                           "moto ignores the projections of a transaction",
		"a stream has both images of every change, in order, and nothing of what changed nothing":                   "moto writes records for writes that change nothing",
	}
}
