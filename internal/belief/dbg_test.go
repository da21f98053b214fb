package belief
import ("testing";"tiebreak/internal/idrl";"math")
func TestDbg(t *testing.T){
	truth := []float64{0.5, 1, 2}
	for seed:=uint64(8);seed<14;seed++{
	qs, as, _ := ratingsLog(120, 3, seed, truth)
	r := ratersModel(3, nil)
	r.Of.Start = Isotropic(3, 0.02)
	got,_ := r.EvidenceScales(qs, as, 0.52)
	ev := func(a,b,c float64) float64 { r.Scales = map[idrl.AnnotatorID]float64{"annotator 0":a,"annotator 1":b,"annotator 2":c}; e,_ := r.Evidence(qs,as); 
		for _,k:=range []float64{a,b,c} { z:=math.Log(k)/0.52; e-=0.5*z*z }
		return e }
	t.Log(got, ev(got["annotator 0"],got["annotator 1"],got["annotator 2"]), ev(.5,1,2), ev(.5,.707,1.41), ev(.707,1.41,2), ev(.707,1,2))
	}
}
